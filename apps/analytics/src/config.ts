import { hostAndPort, readDatabaseUrl, readEnvironment, readServe, readTls } from '@vitascope/config'
import { principalKey, type ServeSettings, type TlsSettings } from '@vitascope/grpc'

/** What the analytics service can be told. */
export interface AnalyticsConfig {
  /** `HOST:PORT`; port 0 is any. */
  listen: string
  metricsListen: { host: string; port: number }
  serve?: ServeSettings
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** Signs and checks the principals of calls. */
  principalKey: Uint8Array
  catalogueAddress: string
  /** Where events wait while the database is away: a folder of this process alone. Undefined: they are refused then. */
  spool: { folder: string; mostBytes: number } | undefined
  /** Days that events, and views without newer ones, are kept; counts are kept for good. */
  retentionDays: number
}

export function readConfig(env: NodeJS.ProcessEnv): AnalyticsConfig {
  const read = readEnvironment(env)
  const folder = read.optional('VITASCOPE_ANALYTICS_SPOOL_DIR')
  const mostBytes = read.int('VITASCOPE_ANALYTICS_SPOOL_BYTES', 256 * 1024 * 1024, { min: 0, max: Number.MAX_SAFE_INTEGER })
  const config = {
    listen: read.address('VITASCOPE_ANALYTICS_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_ANALYTICS_METRICS_LISTEN', '127.0.0.1:0')),
    serve: readServe(read, 'ANALYTICS'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'ANALYTICS'),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    spool: folder === undefined ? undefined : { folder, mostBytes },
    retentionDays: read.int('VITASCOPE_ANALYTICS_RETENTION_DAYS', 90, { min: 2, max: 36_500 }),
  }
  read.check()
  return config
}

/** What its migrations, and the comparison of counts with events, need. */
export function readDatabaseConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'ANALYTICS') }
  read.check()
  return config
}
