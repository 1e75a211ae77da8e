import type { ServiceDefinition as GrpcDefinition, ServerDuplexStream, UntypedServiceImplementation } from '@grpc/grpc-js'
import {
  type ServerReflectionRequest,
  ServerReflectionResponse,
  ServerReflectionService,
} from '@vitascope/proto/grpc/reflection/v1/reflection'
import { indexDescriptors } from './descriptor-index.ts'

/**
 * Returns gRPC server reflection v1 over the descriptor set of proto/, including well-known types. The published
 * package does not resolve well-known types, so this responds with the raw file descriptors and their imports.
 */
export function reflectionService(): { definition: GrpcDefinition; handlers: UntypedServiceImplementation } {
  const descriptors = indexDescriptors()
  const response = (request: ServerReflectionRequest): ServerReflectionResponse => {
    const respond = (messageResponse: ServerReflectionResponse['messageResponse']): ServerReflectionResponse => ({
      ...ServerReflectionResponse.fromPartial({ validHost: request.host }),
      originalRequest: request,
      messageResponse,
    })
    const files = (descriptorBytes: Uint8Array[] | undefined, name: string) =>
      descriptorBytes
        ? respond({ $case: 'fileDescriptorResponse', value: { fileDescriptorProto: descriptorBytes.map((f) => Buffer.from(f)) } })
        : respond({ $case: 'errorResponse', value: { errorCode: 5, errorMessage: `not found: ${name}` } })
    const query = request.messageRequest
    switch (query?.$case) {
      case 'listServices':
        return respond({ $case: 'listServicesResponse', value: { service: descriptors.services().map((name) => ({ name })) } })
      case 'fileByFilename':
        return files(descriptors.byFile(query.value), query.value)
      case 'fileContainingSymbol':
        return files(descriptors.bySymbol(query.value), query.value)
      default:
        return respond({ $case: 'errorResponse', value: { errorCode: 12, errorMessage: 'extensions are not used here' } })
    }
  }
  return {
    definition: ServerReflectionService as unknown as GrpcDefinition,
    handlers: {
      serverReflectionInfo: (call: ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>) => {
        call.on('data', (request: ServerReflectionRequest) => call.write(response(request)))
        call.on('end', () => call.end())
      },
    },
  }
}
