import { fileURLToPath } from 'node:url'
import { type AddressRules, parseAddressRules } from '@vitascope/access'
import { readEnvironment, readOrigin, readRedirectOrigin, readTls } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import { principalKey, type TlsSettings } from '@vitascope/grpc'
import { DEFAULT_LIMITS, type Limits, parseLimits } from './limits/limits.ts'

/** What this process can be told. */
export interface GatewayConfig {
  host: string
  port: number
  /** What generated addresses begin with, without a slash at the end; undefined for the address bound. */
  publicUrl: string | undefined
  metricsListen: string
  authAddress: string
  catalogueAddress: string
  encodingAddress: string
  collaborationAddress: string
  analyticsAddress: string
  /** Origin of delivery, `http://127.0.0.1:4000`. */
  deliveryUrl: string
  /** Origin at which encoding takes the bytes of uploads. */
  uploadUrl: string
  principalKey: Uint8Array
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  /** Where limits are shared with other gateways, and revocations told; undefined for neither. */
  redisUrl: string | undefined
  /** `off` for none. */
  limits: Limits | 'off'
  /** Origins whose pages may call; `*` for all. */
  corsOrigins: readonly string[]
  /** Proxies in front, whose `X-Forwarded-For` counts. */
  trustedProxies: AddressRules
  /** Networks that sources may come from although they are not public: CIDRs. */
  sourceAllow: readonly string[]
  /** Where the player's files come from besides this gateway: the origin that delivery leads to; undefined for none. */
  redirectOrigin?: string | undefined
  /** Whether players tell nothing of viewers whose browser asks not to be tracked. */
  doNotTrack: 'respect' | 'ignore'
  /** The folder with the built web pages. */
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
    deliveryUrl: readOrigin(read, 'VITASCOPE_DELIVERY_URL'),
    uploadUrl: readOrigin(read, 'VITASCOPE_ENCODING_UPLOAD_URL'),
    principalKey: principalKey(read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE')),
    tls: readTls(read),
    redisUrl: read.secretUrl('VITASCOPE_REDIS_URL', ['redis:', 'rediss:']),
    limits: limits.limits ?? DEFAULT_LIMITS,
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
