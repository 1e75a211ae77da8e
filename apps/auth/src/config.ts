import {
  AUDIT_DAYS,
  MASTER_KEY_FILE,
  type Reader,
  readCommandDatabaseUrl,
  readEnvironment,
  readServiceAddress,
  SYSTEM_KEY,
} from '@vitascope/config'
import { masterKeysProblem } from '@vitascope/security'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'
import type { SystemKeySource } from './installation.ts'
import { hasConfiguredKeyForm } from './key/key-value.ts'
import { readOidcSettings } from './oidc/oidc-config.ts'
import type { OidcSettings } from './oidc/oidc-provider.ts'

/** The settings of the auth service. */
export interface AuthConfig extends GrpcServiceConfig {
  /** Path of the file with the keys from which lookup hashes and encryption keys are derived. */
  masterKeyFile: string
  systemKey: SystemKeySource
  catalogueAddress: string
  /** The identity provider. Undefined if there is none. */
  oidc?: OidcSettings | undefined
  /** Days after which entries of the audit log are deleted. */
  auditDays: number
}

export function readAuthConfig(env: NodeJS.ProcessEnv): AuthConfig {
  const read = readEnvironment(env)
  const config = {
    ...readGrpcServiceConfig(read, 'AUTH'),
    masterKeyFile: readMasterKeyFile(read),
    systemKey: {
      value: read.secret('VITASCOPE_SYSTEM_KEY', SYSTEM_KEY),
      file: read.optional('VITASCOPE_NEW_SYSTEM_KEY_FILE', {
        description: 'Without a system key, the first start writes the created key to this file with mode 0600. The folder must exist.',
      }),
    },
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    oidc: readOidcSettings(read),
    auditDays: read.int('VITASCOPE_AUDIT_DAYS', AUDIT_DAYS),
  }
  if (config.systemKey.value !== undefined && !hasConfiguredKeyForm(config.systemKey.value)) {
    read.addProblem('VITASCOPE_SYSTEM_KEY must have 20 to 128 characters of A-Z, a-z, 0-9, _ and -')
  }
  read.check()
  return config
}

/** Reads the settings of the command that re-encrypts secrets. Throws `ConfigError`. */
export function readRekeyConfig(env: NodeJS.ProcessEnv): { databaseUrl: string; masterKeyFile: string; systemKey: string | undefined } {
  const read = readEnvironment(env)
  const config = {
    databaseUrl: readCommandDatabaseUrl(read, 'AUTH'),
    masterKeyFile: readMasterKeyFile(read),
    systemKey: read.secret('VITASCOPE_SYSTEM_KEY', SYSTEM_KEY),
  }
  read.check()
  return config
}

function readMasterKeyFile(read: Reader): string {
  const problem = masterKeysProblem(read.secretFile('VITASCOPE_MASTER_KEY_FILE', MASTER_KEY_FILE))
  if (problem !== undefined) read.addProblem(`VITASCOPE_MASTER_KEY_FILE ${problem}`)
  return read.optional('VITASCOPE_MASTER_KEY_FILE') ?? ''
}
