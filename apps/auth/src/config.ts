import { readDatabaseUrl, readEnvironment, readServe, readTls } from '@vitascope/config'
import type { ServeSettings, TlsSettings } from '@vitascope/grpc'
import { isConfiguredForm } from './api-key/key-value.ts'
import type { SystemKeySource } from './installation.ts'

/** What the auth service can be told. */
export interface AuthConfig {
  listen: string
  metricsListen: string
  serve?: ServeSettings
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** Signs and checks the principals of calls. */
  principalKey: string
  /** Every key's look-up and sealing come from it. */
  masterKey: string
  systemKey: SystemKeySource
  catalogueAddress: string
  /** Days that entries of the audit log are kept. */
  auditDays: number
}

export function readAuthConfig(env: NodeJS.ProcessEnv): AuthConfig {
  const read = readEnvironment(env)
  const config = {
    listen: read.address('VITASCOPE_AUTH_LISTEN', '127.0.0.1:0'),
    metricsListen: read.address('VITASCOPE_AUTH_METRICS_LISTEN', '127.0.0.1:0'),
    serve: readServe(read, 'AUTH'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'AUTH'),
    principalKey: read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE'),
    masterKey: read.secretFile('VITASCOPE_MASTER_KEY_FILE'),
    systemKey: { value: read.secret('VITASCOPE_SYSTEM_KEY'), file: read.optional('VITASCOPE_NEW_SYSTEM_KEY_FILE') },
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    auditDays: read.int('VITASCOPE_AUDIT_DAYS', 400, { min: 1, max: 36_500 }),
  }
  if (config.systemKey.value !== undefined && !isConfiguredForm(config.systemKey.value)) {
    read.refuse('VITASCOPE_SYSTEM_KEY must have 20 to 128 characters of A-Z, a-z, 0-9, _ and -')
  }
  if (config.masterKey !== '' && config.masterKey.length < MASTER_KEY_CHARACTERS) {
    read.refuse(`VITASCOPE_MASTER_KEY_FILE: the file must hold at least ${MASTER_KEY_CHARACTERS} characters`)
  }
  read.check()
  return config
}

/** What the migrations of the auth service need. */
export function readMigrateConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const databaseUrl = readDatabaseUrl(read, 'AUTH')
  read.check()
  return { databaseUrl }
}

const MASTER_KEY_CHARACTERS = 32
