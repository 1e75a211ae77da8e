export { type GrpcServiceConfig, readGrpcServiceConfig } from './config.ts'
export { type Loop, type RunningGrpcService, type ServiceBase, type ServiceParts, startGrpcService } from './start-grpc-service.ts'
