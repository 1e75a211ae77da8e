export { readDatabaseUrl } from './database.ts'
/** The parts of a checked address. */
export { hostAndPort } from './host-and-port.ts'
/** How services speak to each other. */
export { readOrigin, readServe, readTls } from './house.ts'
/** Where objects are kept. */
export { type ObjectStoreSettings, readDeliveryByS3, readObjectStore, readRedirectOrigin } from './object-store.ts'
export { ConfigError, type Reader, readEnvironment } from './read-environment.ts'
