import {
  MASTER_KEY_FILE,
  PUBLIC_URL,
  type Reader,
  readCommandDatabaseUrl,
  readCountryDatabaseFile,
  readEnvironment,
  readServiceAddress,
  readSourceAllow,
  readSourceProxy,
  SMTP_URL,
  TOKEN_KEYS_FILE,
} from '@vitascope/config'
import { checkNetwork, checkProxy } from '@vitascope/fetch'
import { masterKeysProblem, parseTokenKeys } from '@vitascope/security'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'
import type { CdnPurgeSettings } from './cdn/cdn-purge.ts'
import { parseSender } from './notification/mail/mail-address.ts'
import type { MailSettings } from './notification/mail/mail-transport.ts'
import type { ReconcileTimes } from './publishing/job/reconcile.ts'

export interface CatalogueConfig extends GrpcServiceConfig {
  /** Path of the file with the keys that encrypt secrets. */
  masterKeyFile: string
  tokenKeysFile: string
  encodingAddress: string
  authAddress: string
  /** CIDRs of non-public networks from which caption files may be fetched and in which webhooks may be called. */
  sourceAllow: readonly string[]
  /** URL of the proxy through which caption files are fetched. Webhooks do not use it. */
  sourceProxy?: string | undefined
  /** Maximum number of open uploads per organisation. */
  uploadsPerOrganisation: number
  mail: MailSettings
  /** Base URL of links in mails, without a trailing slash. */
  publicUrl: string
  /** MMDB file with the countries of addresses; undefined if countries are unknown. */
  countryDatabaseFile?: string | undefined
  reconcile: ReconcileTimes & { everyMs: number }
  /** Receiver of the delivery versions that a CDN must remove; undefined for none. */
  cdnPurge?: CdnPurgeSettings | undefined
}

const DEFAULT_PUBLIC_URL = 'http://localhost:8080'

export function readConfig(env: NodeJS.ProcessEnv): CatalogueConfig {
  const read = readEnvironment(env)
  const publicUrl = (
    read.url('VITASCOPE_PUBLIC_URL', { ...PUBLIC_URL, defaultText: `\`${DEFAULT_PUBLIC_URL}\`` }) ?? DEFAULT_PUBLIC_URL
  ).replace(/(?<!\/)\/+$/, '')
  const config = {
    ...readGrpcServiceConfig(read, 'CATALOGUE'),
    masterKeyFile: readMasterKeyFile(read),
    tokenKeysFile: readTokenKeysFile(read),
    encodingAddress: readServiceAddress(read, 'ENCODING'),
    authAddress: readServiceAddress(read, 'AUTH'),
    sourceAllow: readSourceAllow(read, checkNetwork),
    sourceProxy: readSourceProxy(read, checkProxy),
    uploadsPerOrganisation: read.int('VITASCOPE_UPLOADS_PER_ORGANISATION', {
      fallback: 100,
      min: 1,
      max: 1_000_000,
      description: 'Open uploads of one organisation. Further uploads get 429 `too_many_uploads`.',
    }),
    mail: readMailSettings(read, publicUrl),
    publicUrl,
    countryDatabaseFile: readCountryDatabaseFile(read),
    cdnPurge: readCdnPurge(read),
    reconcile: { everyMs: 10_000, staleSeconds: 30, resultSeconds: 600 },
  }
  read.check()
  return config
}

/** Reads the settings of the command that re-encrypts secrets. Throws `ConfigError`. */
export function readRekeyConfig(env: NodeJS.ProcessEnv): { databaseUrl: string; masterKeyFile: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readCommandDatabaseUrl(read, 'CATALOGUE'), masterKeyFile: readMasterKeyFile(read) }
  read.check()
  return config
}

function readMasterKeyFile(read: Reader): string {
  const problem = masterKeysProblem(read.secretFile('VITASCOPE_MASTER_KEY_FILE', MASTER_KEY_FILE))
  if (problem !== undefined) read.addProblem(`VITASCOPE_MASTER_KEY_FILE ${problem}`)
  return read.optional('VITASCOPE_MASTER_KEY_FILE') ?? ''
}

function readTokenKeysFile(read: Reader): string {
  const name = 'VITASCOPE_TOKEN_KEYS_FILE'
  const text = read.secretFile(name, TOKEN_KEYS_FILE)
  try {
    if (text !== '') parseTokenKeys(text)
  } catch (error) {
    read.addProblem(`${name}: ${(error as Error).message}`)
  }
  return read.optional(name) ?? ''
}

function readMailSettings(read: Reader, publicUrl: string): MailSettings {
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : 'localhost'
  // An IP address is not a valid mail domain.
  const domain = /^[\d.]+$|^\[/.test(host) ? 'localhost' : host
  const from = parseSender(
    read.text('VITASCOPE_MAIL_FROM', {
      fallback: `Vitascope <no-reply@${domain}>`,
      defaultText: '`Vitascope <no-reply@HOST>`',
      description: 'Sender of messages to users. HOST is the host of the public URL.',
    }),
  )
  if (!from) read.addProblem('VITASCOPE_MAIL_FROM must be an address such as Vitascope <no-reply@example.org>')
  return {
    smtpUrl: read.secretUrl('VITASCOPE_SMTP_URL', SMTP_URL),
    folder: read.optional('VITASCOPE_MAIL_DIR', {
      description: 'Folder for messages if there is no mail server. Without both, no messages are sent.',
    }),
    from: from ?? { email: '', name: '' },
  }
}

function readCdnPurge(read: Reader): CdnPurgeSettings | undefined {
  const url = read.secretUrl('VITASCOPE_CDN_PURGE_URL', {
    protocols: ['http:', 'https:'],
    defaultText: 'none',
    description:
      'URL that is called when files of a video must be removed from a CDN. See [CDN](../operate/scale.md#cdn). Requires `VITASCOPE_CDN_PURGE_SECRET`.',
  })
  const secret = read.secret('VITASCOPE_CDN_PURGE_SECRET', {
    description: 'Secret of the signatures of these calls, in the format of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.',
  })
  if (secret !== undefined && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret))
    read.addProblem('VITASCOPE_CDN_PURGE_SECRET must be whsec_ and 24 to 64 bytes in base64')
  if ((url === undefined) !== (secret === undefined))
    read.addProblem('VITASCOPE_CDN_PURGE_URL and VITASCOPE_CDN_PURGE_SECRET require each other')
  return url === undefined || secret === undefined ? undefined : { url, secret }
}
