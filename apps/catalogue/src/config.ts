import { parseTokenKeys, type TokenKeys } from '@vitascope/access'
import { type Reader, readEnvironment } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import { principalKey } from '@vitascope/grpc'
import type { ReconcileTimes } from './job/reconcile.ts'

export interface CatalogueConfig {
  /** `HOST:PORT`; port 0 is any. */
  listen: string
  metricsListen: { host: string; port: number }
  databaseUrl: string
  principalKey: Uint8Array
  masterKey: string
  tokenKeys: TokenKeys
  encodingAddress: string
  authAddress: string
  /** Networks that files of captions may come from although they are not public: CIDRs. */
  sourceAllow: readonly string[]
  reconcile: ReconcileTimes & { everyMs: number }
}

export function readConfig(env: NodeJS.ProcessEnv): CatalogueConfig {
  const read = readEnvironment(env)
  const config = {
    listen: read.address('VITASCOPE_CATALOGUE_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_CATALOGUE_METRICS_LISTEN', '127.0.0.1:0')),
    databaseUrl: databaseUrl(read),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    masterKey: read.secretFile('VITASCOPE_MASTER_KEY_FILE'),
    tokenKeys: tokenKeys(read),
    encodingAddress: read.address('VITASCOPE_ENCODING_ADDRESS'),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    sourceAllow: read.list('VITASCOPE_SOURCE_ALLOW', checkNetwork),
    reconcile: { everyMs: 10_000, quietSeconds: 30, resultSeconds: 600 },
  }
  read.check()
  return config
}

export function readMigrationConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: databaseUrl(read) }
  read.check()
  return config
}

function databaseUrl(read: Reader): string {
  const name = 'VITASCOPE_CATALOGUE_DATABASE_URL'
  const url = read.url(name, ['postgres:', 'postgresql:'])
  if (url === undefined) read.refuse(`${name} is missing`)
  return url ?? ''
}

function tokenKeys(read: Reader): TokenKeys {
  const name = 'VITASCOPE_TOKEN_KEYS_FILE'
  const text = read.secretFile(name)
  try {
    return parseTokenKeys(text)
  } catch (error) {
    if (text !== '') read.refuse(`${name}: ${(error as Error).message}`)
    // Never used: `check` throws.
    return [] as unknown as TokenKeys
  }
}

function hostAndPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':')
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) }
}
