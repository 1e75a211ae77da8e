export { type Call, type Idempotency, serviceCall } from './call.ts'
export { type Channel, type Client, openChannel } from './client.ts'
export type { RequestOf, ResponseOf, ServiceDefinition } from './definition.ts'
export { PRINCIPAL_HEADER, type Principal, principalKey, readPrincipalHeader, signPrincipal, type UserKind } from './principal.ts'
export { createGrpcServer, type GrpcServer, type Handlers, type ServeSettings } from './server.ts'
/** HTTP between services, secured as gRPC is. */
export { createHouseServer, type HttpService, houseRequest, httpService } from './tls/house-http.ts'
export { type Identity, openIdentity, type Peer, type TlsSettings } from './tls/identity.ts'
