export { type Call, type Idempotency, serviceCall } from './call.ts'
export { type Channel, type Client, openChannel } from './client.ts'
export type { RequestOf, ResponseOf, ServiceDefinition } from './definition.ts'
export { isUnimplemented } from './error-table.ts'
export type { Principal, UserKind } from './principal.ts'
export {
  openPrincipalKeys,
  PRINCIPAL_HEADER,
  type PrincipalKeySettings,
  type PrincipalKeys,
  principalHeaders,
  readPrincipalHeaders,
} from './principal-keys.ts'
export { type Admission, createGrpcServer, type GrpcServer, type Handlers, type ServeSettings } from './server.ts'
export { type Identity, openIdentity, type Peer, type TlsSettings } from './tls/identity.ts'
/** HTTP between services, secured like gRPC. */
export { createPlatformServer, type HttpService, httpService, platformRequest } from './tls/platform-http.ts'
