import { fileURLToPath } from 'node:url'
import {
  HOST,
  hostAndPort,
  IDEMPOTENCY_HASH_KEY_FILE,
  LIMITS,
  PORT,
  PUBLIC_URL,
  REDIS_URL,
  type Reader,
  readDownloadLimits,
  readEnvironment,
  readHttpOrigin,
  readMetricsAddress,
  readPrincipalKeys,
  readRedirectOrigin,
  readServiceAddress,
  readSourceAllow,
  readTls,
  TRUST_PROXY,
} from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import type { PrincipalKeySettings, TlsSettings } from '@vitascope/grpc'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '@vitascope/rate-limit'
import { type AddressRules, parseAddressRules } from '@vitascope/security'
import type { TransferSettings } from './server/proxy/transfers.ts'
import type { RedisAddress, SentinelSettings } from './server/redis/redis.ts'

/** Settings of this process. */
export interface GatewayConfig {
  host: string
  port: number
  /** Prefix of generated URLs, without a trailing slash. Undefined for the bound address. */
  publicUrl: string | undefined
  /** URL prefix of media files; undefined if clients request them from the gateway. */
  mediaUrl?: string | undefined
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
  /** Sentinels that report the current master of Redis. Undefined if `redisUrl` is the address of the server. */
  redisSentinels?: SentinelSettings | undefined
  /** Nodes of a Redis Cluster. Undefined without a cluster. */
  redisClusterNodes?: readonly RedisAddress[] | undefined
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
  /** Folder of the built documentation site. */
  docsDir: string
  /** Folder of the built console. */
  consoleDir: string
}

const WEB_DIR = fileURLToPath(new URL('../../web/dist', import.meta.url))
const DOCS_DIR = fileURLToPath(new URL('../../docs/dist', import.meta.url))
const CONSOLE_DIR = fileURLToPath(new URL('../../console/dist', import.meta.url))

export function readGatewayConfig(env: NodeJS.ProcessEnv): GatewayConfig {
  const read = readEnvironment(env)
  const proxies = parseAddressRules(read.list('VITASCOPE_TRUST_PROXY', TRUST_PROXY), 'VITASCOPE_TRUST_PROXY')
  for (const { field, message } of proxies.errors ?? []) read.addProblem(`${field} ${message}`)
  const limits = parseLimits(read.text('VITASCOPE_LIMITS', LIMITS))
  for (const problem of limits.problems ?? []) read.addProblem(`VITASCOPE_LIMITS: ${problem}`)
  const origins = read.list('VITASCOPE_CORS_ORIGINS', {
    check: (origin) => (origin === '*' || isOrigin(origin) ? undefined : 'must be * or an origin such as https://www.example.org'),
    defaultText: '`*`',
    description: 'Origins whose pages may call the API.',
  })
  const config = {
    host: read.text('VITASCOPE_HOST', HOST),
    port: read.int('VITASCOPE_PORT', { ...PORT, min: 0, max: 65_535 }),
    publicUrl: read.url('VITASCOPE_PUBLIC_URL', { ...PUBLIC_URL, defaultText: '`http://HOST:PORT`' })?.replace(/(?<!\/)\/+$/, ''),
    mediaUrl: read
      .url('VITASCOPE_DELIVERY_PUBLIC_URL', {
        protocols: ['http:', 'https:'],
        defaultText: '`VITASCOPE_PUBLIC_URL`',
        description:
          'Prefix of the URLs of media files, if clients request them from delivery directly. See [Media addresses](../operate/scale.md#media-addresses).',
      })
      ?.replace(/(?<!\/)\/+$/, ''),
    metricsListen: readMetricsAddress(read, 'GATEWAY'),
    authAddress: readServiceAddress(read, 'AUTH'),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    encodingAddress: readServiceAddress(read, 'ENCODING'),
    collaborationAddress: readServiceAddress(read, 'COLLABORATION'),
    analyticsAddress: readServiceAddress(read, 'ANALYTICS'),
    deliveryUrl: readHttpOrigin(read, 'VITASCOPE_DELIVERY_URL', 'Origin of delivery, `http://HOST:PORT`.'),
    uploadUrl: readHttpOrigin(
      read,
      'VITASCOPE_ENCODING_UPLOAD_URL',
      'Origin (`http://HOST:PORT`) of the server of encoding that receives the bytes of uploads.',
    ),
    principalKeys: readPrincipalKeys(read, { isServer: false }),
    idempotencyHashKey: read.secretFile('VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE', IDEMPOTENCY_HASH_KEY_FILE),
    tls: readTls(read),
    redisUrl: read.secretUrl('VITASCOPE_REDIS_URL', REDIS_URL),
    ...readRedisGroup(read),
    limits: limits.limits ?? DEFAULT_LIMITS,
    uploads: {
      perAddress: read.int('VITASCOPE_UPLOADS_PER_ADDRESS', {
        fallback: 64,
        min: 1,
        max: 100_000,
        description:
          'Concurrent uploads of one client address (IPv6: of one /48), at each gateway. See [Slow clients](../operate/scale.md#slow-clients).',
      }),
      total: read.int('VITASCOPE_UPLOADS_AT_ONCE', {
        fallback: 1_000,
        min: 1,
        max: 100_000,
        description: 'Concurrent uploads of all clients, at each gateway. See [Slow clients](../operate/scale.md#slow-clients).',
      }),
    },
    downloads: readDownloadLimits(read),
    corsOrigins: origins.length === 0 ? ['*'] : origins,
    trustedProxies: proxies.rules ?? [],
    sourceAllow: readSourceAllow(read, checkNetwork),
    redirectOrigin: readRedirectOrigin(read),
    doNotTrack: read.oneOf('VITASCOPE_DO_NOT_TRACK', {
      words: ['respect', 'ignore'],
      fallback: 'respect',
      description: '`ignore`: the player reports views also if the browser requests no tracking (Do Not Track, Global Privacy Control).',
    }),
    webDir: read.text('VITASCOPE_WEB_DIR', { fallback: WEB_DIR, defaultText: '`apps/web/dist`', description: 'The built web pages.' }),
    docsDir: DOCS_DIR,
    consoleDir: CONSOLE_DIR,
  }
  read.check()
  return config
}

function readRedisGroup(read: Reader): Pick<GatewayConfig, 'redisSentinels' | 'redisClusterNodes'> {
  const redisSentinels = readRedisSentinels(read)
  const nodes = read.list('VITASCOPE_REDIS_CLUSTER_NODES', {
    check: (item) => (isHostAndPort(item) ? undefined : 'must be HOST:PORT'),
    description:
      '`HOST:PORT` of some nodes of a Redis Cluster, which report the others. `VITASCOPE_REDIS_URL` then contains only the user, password and TLS of the nodes, and is optional. See [Redis Cluster](../operate/scale.md#redis-cluster).',
  })
  if (nodes.length > 0 && redisSentinels) read.addProblem('VITASCOPE_REDIS_CLUSTER_NODES and VITASCOPE_REDIS_SENTINELS cannot both be set')
  return { redisSentinels, redisClusterNodes: nodes.length > 0 ? nodes.map(hostAndPort) : undefined }
}

/** Returns the Sentinels, or undefined if none is configured. */
function readRedisSentinels(read: Reader): SentinelSettings | undefined {
  const addresses = read.list('VITASCOPE_REDIS_SENTINELS', {
    check: (item) => (isHostAndPort(item) ? undefined : 'must be HOST:PORT'),
    description:
      '`HOST:PORT` of Redis Sentinels, which report the current master. `VITASCOPE_REDIS_URL` then contains only the user, password, database and TLS of the servers, and is optional. See [Redis Sentinel](../operate/scale.md#redis-sentinel).',
  })
  const name = read.text('VITASCOPE_REDIS_SENTINEL_NAME', {
    fallback: 'mymaster',
    description: 'Name of the master that Sentinels monitor.',
  })
  const password = read.secret('VITASCOPE_REDIS_SENTINEL_PASSWORD', { description: 'Password of the Sentinels themselves.' })
  if (addresses.length === 0) {
    if (password !== undefined) read.addProblem('VITASCOPE_REDIS_SENTINEL_PASSWORD can be set only with VITASCOPE_REDIS_SENTINELS')
    return undefined
  }
  return { addresses: addresses.map(hostAndPort), name, password }
}

function isHostAndPort(text: string): boolean {
  const { host, port } = hostAndPort(text)
  return /^[^\s/@]+$/.test(host) && Number.isInteger(port) && port >= 1 && port <= 65_535
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}
