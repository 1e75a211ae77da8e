import { fileURLToPath } from 'node:url'
import { readEnvironment, readHttpOrigin, readPrincipalKeys, readRedirectOrigin, readTls } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import type { PrincipalKeySettings, TlsSettings } from '@vitascope/grpc'
import { type AddressRules, parseAddressRules } from '@vitascope/security'
import { DEFAULT_LIMITS, type Limits, parseLimits } from './server/limits/limits.ts'
import type { TransferSettings } from './server/proxy/transfers.ts'

/** Settings of this process. */
export interface GatewayConfig {
  host: string
  port: number
  /** Prefix of generated URLs, without a trailing slash. Undefined for the bound address. */
  publicUrl: string | undefined
  metricsListen: string
  authAddress: string
  catalogueAddress: string
  encodingAddress: string
  collaborationAddress: string
  analyticsAddress: string
  /** Origin of delivery, such as `http://127.0.0.1:4000`. */
  deliveryUrl: string
  /** Origin of encoding's upload server. */
  uploadUrl: string
  /**
   * The key that signs the gateway's calls, and the keys that verify the calls of other services.
   */
  principalKeys: PrincipalKeySettings
  /** Key of the HMAC hashes that services store for `Idempotency-Key` headers. */
  idempotencyHashKey: string
  /** TLS between services. Undefined for plain text. */
  tls?: TlsSettings | undefined
  /** Redis for limits and revocations shared with other gateways. Undefined to share neither. */
  redisUrl: string | undefined
  /** `off` disables the limits. */
  limits: Limits | 'off'
  /** Limits of uploads that are proxied to encoding, multipart forms and tus together. */
  uploads: TransferSettings
  /** Limits of files that are proxied to clients. */
  downloads: TransferSettings
  /** Origins whose pages may call the API. `*` for all. */
  corsOrigins: readonly string[]
  /** Trusted proxies, whose `X-Forwarded-For` is used. */
  trustedProxies: AddressRules
  /** Non-public networks from which sources may be downloaded, as CIDRs. */
  sourceAllow: readonly string[]
  /**
   * Second origin of the player's files: the one that delivery redirects to. Undefined for none.
   */
  redirectOrigin?: string | undefined
  /** Whether players send no events for viewers whose browser requests not to be tracked. */
  doNotTrack: 'respect' | 'ignore'
  /** Folder of the built web pages. */
  webDir: string
}

const WEB_DIR = fileURLToPath(new URL('../../web/dist', import.meta.url))

export function readGatewayConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  const read = readEnvironment(env)
  const proxies = parseAddressRules(read.list('VITASCOPE_TRUST_PROXY'), 'VITASCOPE_TRUST_PROXY')
  for (const { field, message } of proxies.errors ?? []) read.refuse(`${field} ${message}`)
  const limits = parseLimits(read.text('VITASCOPE_LIMITS', 'default'))
  for (const problem of limits.problems ?? []) read.refuse(`VITASCOPE_LIMITS: ${problem}`)
  const origins = read.list('VITASCOPE_CORS_ORIGINS', (origin) =>
    origin === '*' || isOrigin(origin) ? undefined : 'must be * or an origin such as https://www.example.org',
  )
  const config = {
    host: read.text('VITASCOPE_HOST', '127.0.0.1'),
    port: read.int('VITASCOPE_PORT', 8080, { min: 0, max: 65_535 }),
    publicUrl: read.url('VITASCOPE_PUBLIC_URL', ['http:', 'https:'])?.replace(/(?<!\/)\/+$/, ''),
    metricsListen: read.address('VITASCOPE_GATEWAY_METRICS_LISTEN', '127.0.0.1:0'),
    authAddress: read.address('VITASCOPE_AUTH_ADDRESS'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    encodingAddress: read.address('VITASCOPE_ENCODING_ADDRESS'),
    collaborationAddress: read.address('VITASCOPE_COLLABORATION_ADDRESS'),
    analyticsAddress: read.address('VITASCOPE_ANALYTICS_ADDRESS'),
    deliveryUrl: readHttpOrigin(read, 'VITASCOPE_DELIVERY_URL'),
    uploadUrl: readHttpOrigin(read, 'VITASCOPE_ENCODING_UPLOAD_URL'),
    principalKeys: readPrincipalKeys(read, { isServer: false }),
    idempotencyHashKey: read.secretFile('VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE'),
    tls: readTls(read),
    redisUrl: read.secretUrl('VITASCOPE_REDIS_URL', ['redis:', 'rediss:']),
    limits: limits.limits ?? DEFAULT_LIMITS,
    uploads: {
      perAddress: read.int('VITASCOPE_UPLOADS_PER_ADDRESS', 64, { min: 1, max: 100_000 }),
      total: read.int('VITASCOPE_UPLOADS_AT_ONCE', 1_000, { min: 1, max: 100_000 }),
    },
    downloads: {
      perAddress: read.int('VITASCOPE_DOWNLOADS_PER_ADDRESS', 256, { min: 1, max: 100_000 }),
      total: read.int('VITASCOPE_DOWNLOADS_AT_ONCE', 4_096, { min: 1, max: 1_000_000 }),
    },
    corsOrigins: origins.length === 0 ? ['*'] : origins,
    trustedProxies: proxies.rules ?? [],
    sourceAllow: read.list('VITASCOPE_SOURCE_ALLOW', checkNetwork),
    redirectOrigin: readRedirectOrigin(read),
    doNotTrack: read.oneOf('VITASCOPE_DO_NOT_TRACK', ['respect', 'ignore'], 'respect'),
    webDir: read.text('VITASCOPE_WEB_DIR', WEB_DIR),
  }
  read.check()
  return config
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}
