import { hostAndPort, readDatabaseUrl, readEnvironment, readGrpcServerSettings, readPrincipalKeys, readTls } from '@vitascope/config'
import type { PrincipalKeySettings, ServeSettings, TlsSettings } from '@vitascope/grpc'

/** The settings of the analytics service. */
export interface AnalyticsConfig {
  /** `HOST:PORT`; port 0 selects any free port. */
  listen: string
  metricsListen: { host: string; port: number }
  serve?: ServeSettings
  /** TLS between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** The key that signs this service's calls, and the keys that verify calls of other services. */
  principalKeys: PrincipalKeySettings
  catalogueAddress: string
  /**
   * Spool for events while the database is unavailable, in a folder used by this process only. If
   * undefined, events are rejected during that time.
   */
  spool: { folder: string; maxBytes: number } | undefined
  /** Days for which events, and views without newer events, are kept. Counts are kept permanently. */
  retentionDays: number
}

export function readConfig(env: NodeJS.ProcessEnv): AnalyticsConfig {
  const read = readEnvironment(env)
  const folder = read.optional('VITASCOPE_ANALYTICS_SPOOL_DIR')
  const maxBytes = read.int('VITASCOPE_ANALYTICS_SPOOL_BYTES', 256 * 1024 * 1024, { min: 0, max: Number.MAX_SAFE_INTEGER })
  const config = {
    listen: read.address('VITASCOPE_ANALYTICS_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_ANALYTICS_METRICS_LISTEN', '127.0.0.1:0')),
    serve: readGrpcServerSettings(read, 'ANALYTICS'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'ANALYTICS'),
    principalKeys: readPrincipalKeys(read, { isServer: true }),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    spool: folder === undefined ? undefined : { folder, maxBytes },
    retentionDays: read.int('VITASCOPE_ANALYTICS_RETENTION_DAYS', 90, { min: 2, max: 36_500 }),
  }
  read.check()
  return config
}

/** Reads the settings of the migrations and of the comparison of counts with events. Throws `ConfigError`. */
export function readDatabaseConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'ANALYTICS') }
  read.check()
  return config
}
