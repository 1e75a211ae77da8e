import { hostAndPort, readDatabaseUrl, readEnvironment, readServe, readTls } from '@vitascope/config'
import { principalKey, type ServeSettings, type TlsSettings } from '@vitascope/grpc'

/** What the collaboration service can be told. */
export interface CollaborationConfig {
  /** `HOST:PORT`; port 0 is any. */
  listen: string
  metricsListen: { host: string; port: number }
  serve?: ServeSettings
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** Signs and checks the principals of calls. */
  principalKey: Uint8Array
  authAddress: string
  catalogueAddress: string
}

export function readConfig(env: NodeJS.ProcessEnv): CollaborationConfig {
  const read = readEnvironment(env)
  const config = {
    listen: read.address('VITASCOPE_COLLABORATION_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_COLLABORATION_METRICS_LISTEN', '127.0.0.1:0')),
    serve: readServe(read, 'COLLABORATION'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'COLLABORATION'),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
  }
  read.check()
  return config
}

/** What its migrations need. */
export function readMigrationConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'COLLABORATION') }
  read.check()
  return config
}
