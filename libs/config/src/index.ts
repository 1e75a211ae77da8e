export { readCommandDatabaseUrl, readDatabaseConfig, readDatabaseUrl, readDirectDatabaseUrl, readPoolSize } from './database.ts'
/** Parts of an address. */
export { hostAndPort } from './host-and-port.ts'
/** Storage of objects. */
export { type ObjectStoreSettings, readDeliveryS3Mode, readObjectStore, readRedirectOrigin, S3_ENDPOINT } from './object-store.ts'
export { ConfigError, type Reader, readEnvironment } from './read-environment.ts'
/** Connections between services. */
export { readGrpcServerSettings, readHttpOrigin, readPrincipalKeys, readTls } from './service.ts'
/** The settings reference. */
export { recordSettings, type SettingDeclaration } from './setting-declaration.ts'
/** Settings that several processes read. */
export {
  ANALYTICS_RETENTION_DAYS,
  AUDIT_DAYS,
  CRASH_AT,
  HOST,
  IDEMPOTENCY_HASH_KEY_FILE,
  LIMITS,
  MASTER_KEY_FILE,
  PORT,
  PUBLIC_URL,
  REDIS_URL,
  readCountryDatabaseFile,
  readDownloadLimits,
  readListenAddress,
  readMetricsAddress,
  readScratchDir,
  readServiceAddress,
  readSourceAllow,
  readSourceProxy,
  SMTP_URL,
  SYSTEM_KEY,
  TOKEN_KEYS_FILE,
  TRUST_PROXY,
  UPLOAD_SIGNING_KEY_FILE,
} from './shared-settings.ts'
