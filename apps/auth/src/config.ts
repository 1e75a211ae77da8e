import { type Reader, readDatabaseUrl, readEnvironment, readGrpcServerSettings, readPrincipalKeys, readTls } from '@vitascope/config'
import type { PrincipalKeySettings, ServeSettings, TlsSettings } from '@vitascope/grpc'
import { masterKeysProblem } from '@vitascope/security'
import type { SystemKeySource } from './installation.ts'
import { isConfiguredForm } from './key/key-value.ts'

/** The settings of the auth service. */
export interface AuthConfig {
  listen: string
  metricsListen: string
  serve?: ServeSettings
  /** TLS between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** The key that signs this service's calls, and the keys that verify calls of other services. */
  principalKeys: PrincipalKeySettings
  /** Path of the file with the keys from which lookup hashes and encryption keys are derived. */
  masterKeyFile: string
  systemKey: SystemKeySource
  catalogueAddress: string
  /** Days for which entries of the audit log are kept. */
  auditDays: number
}

export function readAuthConfig(env: NodeJS.ProcessEnv): AuthConfig {
  const read = readEnvironment(env)
  const config = {
    listen: read.address('VITASCOPE_AUTH_LISTEN', '127.0.0.1:0'),
    metricsListen: read.address('VITASCOPE_AUTH_METRICS_LISTEN', '127.0.0.1:0'),
    serve: readGrpcServerSettings(read, 'AUTH'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'AUTH'),
    principalKeys: readPrincipalKeys(read, { isServer: true }),
    masterKeyFile: readMasterKeyFile(read),
    systemKey: { value: read.secret('VITASCOPE_SYSTEM_KEY'), file: read.optional('VITASCOPE_NEW_SYSTEM_KEY_FILE') },
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    auditDays: read.int('VITASCOPE_AUDIT_DAYS', 400, { min: 1, max: 36_500 }),
  }
  if (config.systemKey.value !== undefined && !isConfiguredForm(config.systemKey.value)) {
    read.refuse('VITASCOPE_SYSTEM_KEY must have 20 to 128 characters of A-Z, a-z, 0-9, _ and -')
  }
  read.check()
  return config
}

/** Reads the settings of the migrations. Throws `ConfigError`. */
export function readMigrateConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const databaseUrl = readDatabaseUrl(read, 'AUTH')
  read.check()
  return { databaseUrl }
}

/** Reads the settings of the command that re-encrypts secrets. Throws `ConfigError`. */
export function readRekeyConfig(env: NodeJS.ProcessEnv): { databaseUrl: string; masterKeyFile: string; systemKey: string | undefined } {
  const read = readEnvironment(env)
  const config = {
    databaseUrl: readDatabaseUrl(read, 'AUTH'),
    masterKeyFile: readMasterKeyFile(read),
    systemKey: read.secret('VITASCOPE_SYSTEM_KEY'),
  }
  read.check()
  return config
}

function readMasterKeyFile(read: Reader): string {
  const problem = masterKeysProblem(read.secretFile('VITASCOPE_MASTER_KEY_FILE'))
  if (problem !== undefined) read.refuse(`VITASCOPE_MASTER_KEY_FILE ${problem}`)
  return read.optional('VITASCOPE_MASTER_KEY_FILE') ?? ''
}
