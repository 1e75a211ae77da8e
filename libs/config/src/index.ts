export { readDatabaseConfig, readDatabaseUrl } from './database.ts'
/** Parts of an address. */
export { hostAndPort } from './host-and-port.ts'
/** Storage of objects. */
export { type ObjectStoreSettings, readDeliveryByS3, readObjectStore, readRedirectOrigin } from './object-store.ts'
export { ConfigError, type Reader, readEnvironment } from './read-environment.ts'
/** Connections between services. */
export { readGrpcServerSettings, readHttpOrigin, readPrincipalKeys, readTls } from './service.ts'
