import { parseTokenKeys, type TokenKeys } from '@vitascope/access'
import { hostAndPort, type Reader, readDatabaseUrl, readEnvironment, readServe, readTls } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import { principalKey, type ServeSettings, type TlsSettings } from '@vitascope/grpc'
import type { ReconcileTimes } from './job/reconcile.ts'
import { parseSender } from './mail/mail-address.ts'
import type { MailSettings } from './mail/mail-transport.ts'

export interface CatalogueConfig {
  /** `HOST:PORT`; port 0 is any. */
  listen: string
  metricsListen: { host: string; port: number }
  serve?: ServeSettings
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  principalKey: Uint8Array
  masterKey: string
  tokenKeys: TokenKeys
  encodingAddress: string
  authAddress: string
  /** Networks of captions' files and webhooks that may be called although they are not public: CIDRs. */
  sourceAllow: readonly string[]
  mail: MailSettings
  /** What addresses in messages begin with, without a slash at the end. */
  publicUrl: string
  reconcile: ReconcileTimes & { everyMs: number }
}

export function readConfig(env: NodeJS.ProcessEnv): CatalogueConfig {
  const read = readEnvironment(env)
  const publicUrl = (read.url('VITASCOPE_PUBLIC_URL', ['http:', 'https:']) ?? 'http://localhost:8080').replace(/(?<!\/)\/+$/, '')
  const config = {
    listen: read.address('VITASCOPE_CATALOGUE_LISTEN', '127.0.0.1:0'),
    metricsListen: hostAndPort(read.address('VITASCOPE_CATALOGUE_METRICS_LISTEN', '127.0.0.1:0')),
    serve: readServe(read, 'CATALOGUE'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'CATALOGUE'),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    masterKey: read.secretFile('VITASCOPE_MASTER_KEY_FILE'),
    tokenKeys: tokenKeys(read),
    encodingAddress: read.address('VITASCOPE_ENCODING_ADDRESS'),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    sourceAllow: read.list('VITASCOPE_SOURCE_ALLOW', checkNetwork),
    mail: mailSettings(read, publicUrl),
    publicUrl,
    reconcile: { everyMs: 10_000, quietSeconds: 30, resultSeconds: 600 },
  }
  read.check()
  return config
}

export function readMigrationConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'CATALOGUE') }
  read.check()
  return config
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

function mailSettings(read: Reader, publicUrl: string): MailSettings {
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : 'localhost'
  // An address of numbers is nobody's mail domain.
  const domain = /^[\d.]+$|^\[/.test(host) ? 'localhost' : host
  const from = parseSender(read.text('VITASCOPE_MAIL_FROM', `Vitascope <no-reply@${domain}>`))
  if (!from) read.refuse('VITASCOPE_MAIL_FROM must be an address such as Vitascope <no-reply@example.org>')
  return {
    smtpUrl: read.secretUrl('VITASCOPE_SMTP_URL', ['smtp:', 'smtps:']),
    folder: read.optional('VITASCOPE_MAIL_DIR'),
    from: from ?? { email: '', name: '' },
  }
}
