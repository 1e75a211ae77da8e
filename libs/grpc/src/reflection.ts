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
    const files = (found: Uint8Array[] | undefined, what: string) =>
      found
        ? respond({ $case: 'fileDescriptorResponse', value: { fileDescriptorProto: found.map((f) => Buffer.from(f)) } })
        : respond({ $case: 'errorResponse', value: { errorCode: 5, errorMessage: `not found: ${what}` } })
    const asked = request.messageRequest
    switch (asked?.$case) {
      case 'listServices':
        return respond({ $case: 'listServicesResponse', value: { service: descriptors.services().map((name) => ({ name })) } })
      case 'fileByFilename':
        return files(descriptors.byFile(asked.value), asked.value)
      case 'fileContainingSymbol':
        return files(descriptors.bySymbol(asked.value), asked.value)
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
