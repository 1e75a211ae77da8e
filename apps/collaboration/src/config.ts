import { hostAndPort, readDatabaseUrl, readEnvironment, readGrpcServerSettings, readPrincipalKeys, readTls } from '@vitascope/config'
import type { PrincipalKeySettings, ServeSettings, TlsSettings } from '@vitascope/grpc'

/** The settings of the collaboration service. */
export interface CollaborationConfig {
  /** `HOST:PORT`; port 0 selects any free port. */
  listen: string
  metricsListen: { host: string; port: number }
  serve?: ServeSettings
  /** TLS between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** The key that signs this service's calls, and the keys that verify calls of other services. */
  principalKeys: PrincipalKeySettings
  authAddress: string
  catalogueAddress: string
}

export function readConfig(env: NodeJS.ProcessEnv): CollaborationConfig {
  const read = readEnvironment(env)
  const config = {
    listen: read.address('VITASCOPE_COLLABORATION_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_COLLABORATION_METRICS_LISTEN', '127.0.0.1:0')),
    serve: readGrpcServerSettings(read, 'COLLABORATION'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'COLLABORATION'),
    principalKeys: readPrincipalKeys(read, { isServer: true }),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
  }
  read.check()
  return config
}

/** Reads the settings of the migrations. Throws `ConfigError`. */
export function readMigrationConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'COLLABORATION') }
  read.check()
  return config
}
