import { readFileSync } from 'node:fs'
import {
  LIMITS,
  type ObjectStoreSettings,
  PUBLIC_URL,
  type Reader,
  readCountryDatabaseFile,
  readDeliveryS3Mode,
  readDownloadLimits,
  readEnvironment,
  readListenAddress,
  readMetricsAddress,
  readObjectStore,
  readPrincipalKeys,
  readServiceAddress,
  readTls,
  TOKEN_KEYS_FILE,
  TRUST_PROXY,
} from '@vitascope/config'
import type { PrincipalKeySettings, TlsSettings } from '@vitascope/grpc'
import { DEFAULT_LIMITS, type Limits, parseLimits } from '@vitascope/rate-limit'
import { type AddressRules, parseAddressRules, parseTokenKeys } from '@vitascope/security'
import { DEFAULT_PIECEWISE_BOUNDS } from '@vitascope/storage'

const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024

/** The settings of the delivery service. */
export interface DeliveryConfig {
  listen: string
  metricsListen: string
  catalogueAddress: string
  encodingAddress: string
  /** The key that signs this service's calls, and the keys that verify calls of other services. */
  principalKeys: PrincipalKeySettings
  /** TLS between services, including the gateway's requests for files; undefined for plain text. */
  tls?: TlsSettings | undefined
  tokenKeysFile: string
  /** Prefix of the platform's own pages; undefined if they have the host of the requests for files. */
  publicUrl?: string | undefined
  /** MMDB file with the countries of addresses; undefined if countries are unknown. */
  countryDatabaseFile?: string | undefined
  objects: ObjectStoreSettings
  /**
   * `proxy`: delivery sends the files of a bucket. `redirect`: clients are redirected to them.
   * Playlists and texts are always sent.
   */
  s3Mode: 'proxy' | 'redirect'
  /** Concurrent requests to the object store for files that are sent. */
  storageReads: number
  /** Maximum bytes of the memory cache for files; 0 for none. */
  cacheBytes: number
  /** Maximum age in seconds of playback rules that are used while the catalogue is unavailable. */
  outageSeconds: number
  /** Maximum number of concurrent downloads, per client address (for IPv6 per /48) and in total. */
  downloads: { perAddress: number; total: number }
  /** Address of the HTTP server that viewers reach without the gateway; undefined for none. */
  publicListen?: string | undefined
  /** Path of the location of nginx in front of that server that sends the files; undefined if delivery sends them. */
  accelPath?: string | undefined
  /** Proxies in front of that server, whose `X-Forwarded-For` is used. */
  publicTrustedProxies: AddressRules
  /** Texts of the `User-Agent` of crawlers that get media files. */
  allowedCrawlers: readonly string[]
  /** Limits of requests to that server, and of the traffic of files. */
  limits: Limits | 'off'
  /** Peers whose `X-Forwarded-For` is trusted: the addresses of the gateway. */
  trustedProxies: AddressRules
}

export function readDeliveryConfig(env: NodeJS.ProcessEnv): DeliveryConfig {
  const read = readEnvironment(env)
  const proxies = parseAddressRules(
    read.list('VITASCOPE_DELIVERY_TRUST_PROXY', {
      defaultText: 'loopback',
      description: 'Addresses and networks of the gateways, whose `X-Forwarded-For` is used.',
    }),
    'VITASCOPE_DELIVERY_TRUST_PROXY',
  )
  for (const { field, message } of proxies.errors ?? []) read.addProblem(`${field} ${message}`)
  const edges = parseAddressRules(read.list('VITASCOPE_TRUST_PROXY', TRUST_PROXY), 'VITASCOPE_TRUST_PROXY')
  for (const { field, message } of edges.errors ?? []) read.addProblem(`${field} ${message}`)
  const limits = parseLimits(read.text('VITASCOPE_LIMITS', LIMITS))
  for (const problem of limits.problems ?? []) read.addProblem(`VITASCOPE_LIMITS: ${problem}`)
  const config = {
    listen: readListenAddress(read, 'DELIVERY'),
    publicListen: read.optionalAddress('VITASCOPE_DELIVERY_PUBLIC_LISTEN', {
      description:
        'Address on which delivery serves viewers without the gateway, in plain HTTP for an ingress or load balancer. See [Media addresses](../operate/scale.md#media-addresses).',
    }),
    accelPath: readAccelPath(read),
    publicTrustedProxies: edges.rules ?? [],
    limits: limits.limits ?? DEFAULT_LIMITS,
    allowedCrawlers: read.list('VITASCOPE_ALLOWED_CRAWLERS', {
      description:
        'Parts of the `User-Agent` of crawlers that get media files, such as `Googlebot`. `*` allows all. Others get pages, playlists, pictures and captions only. See [Traffic](../operate/scale.md#traffic).',
    }),
    metricsListen: readMetricsAddress(read, 'DELIVERY'),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    encodingAddress: readServiceAddress(read, 'ENCODING'),
    principalKeys: readPrincipalKeys(read, { isServer: false }),
    publicUrl: read.url('VITASCOPE_PUBLIC_URL', { ...PUBLIC_URL, defaultText: 'the host of the request' }),
    countryDatabaseFile: readCountryDatabaseFile(read),
    tls: readTls(read),
    objects: readObjectStore(read),
    s3Mode: readDeliveryS3Mode(read),
    storageReads: read.int('VITASCOPE_DELIVERY_STORAGE_READS', {
      fallback: DEFAULT_PIECEWISE_BOUNDS.maxRequests,
      min: 1,
      max: 10_000,
      description: 'Concurrent requests to the object store for files that are sent.',
    }),
    cacheBytes: read.int('VITASCOPE_DELIVERY_CACHE_BYTES', {
      fallback: DEFAULT_CACHE_BYTES,
      min: 0,
      max: 64 * 1024 ** 3,
      description: 'Maximum bytes of the memory cache for segments that are requested repeatedly. 0 disables it.',
    }),
    outageSeconds: read.int('VITASCOPE_DELIVERY_OUTAGE_SECONDS', {
      fallback: 600,
      min: 5,
      max: 86_400,
      description:
        'Maximum age in seconds of playback rules that are used while the catalogue or its database is unavailable. See [Playback during an outage](../operate/scale.md#playback-during-an-outage).',
    }),
    downloads: readDownloadLimits(read),
    trustedProxies: proxies.rules?.length ? proxies.rules : loopback(),
  }
  const tokenKeysFile = read.text('VITASCOPE_TOKEN_KEYS_FILE', TOKEN_KEYS_FILE)
  try {
    if (tokenKeysFile !== '') parseTokenKeys(readFileSync(tokenKeysFile, 'utf8'))
  } catch (error) {
    read.addProblem(`VITASCOPE_TOKEN_KEYS_FILE: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`)
  }
  read.check()
  return { ...config, tokenKeysFile }
}

function readAccelPath(read: Reader): string | undefined {
  const path = read.optional('VITASCOPE_DELIVERY_ACCEL_PATH', {
    description:
      'Path of an internal location of nginx, such as `/objects/`. Delivery then sends files by `X-Accel-Redirect`, to requests at ' +
      '`VITASCOPE_DELIVERY_PUBLIC_LISTEN` only. See [nginx](../operate/scale.md#nginx-in-front-of-delivery).',
  })
  if (path !== undefined && !/^\/[\w-]+\/$/.test(path))
    read.addProblem('VITASCOPE_DELIVERY_ACCEL_PATH must be a path of one segment, such as /objects/')
  return path
}

function loopback(): AddressRules {
  return parseAddressRules(['127.0.0.0/8', '::1']).rules ?? []
}
