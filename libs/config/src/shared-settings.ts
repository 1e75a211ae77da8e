import type { Reader } from './read-environment.ts'
import type { Description } from './setting-declaration.ts'

// Settings that several processes read.

/** `VITASCOPE_AUDIT_DAYS` */
export const AUDIT_DAYS = {
  fallback: 400,
  min: 1,
  max: 36_500,
  description:
    'Days that the audit log is stored. Weeks (from Monday, UTC) that are older are dropped completely. Entries are never removed otherwise.',
}

/** `VITASCOPE_ANALYTICS_RETENTION_DAYS` */
export const ANALYTICS_RETENTION_DAYS = {
  fallback: 90,
  min: 2,
  max: 36_500,
  description: 'Days that events and views are stored. Counts are stored permanently.',
}

/** `VITASCOPE_CRASH_AT` */
export const CRASH_AT: Description = {
  description:
    'For tests: a point of `apps/encoding/src/common/crash-point.ts`, or `commit:N` (worker: `put:N`), at which the process kills itself.',
}

/** `VITASCOPE_HOST` */
export const HOST = { fallback: '127.0.0.1', description: 'Host name or IP address on which the gateway listens.' }

/** `VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE` */
export const IDEMPOTENCY_HASH_KEY_FILE: Description = {
  description: 'File with the key of the hashes that are stored for `Idempotency-Key` headers. See [Keys](../operate/security.md#keys).',
}

/** `VITASCOPE_LIMITS` */
export const LIMITS = { fallback: 'default', description: '`off`, or JSON. See [Rate limits](#rate-limits).' }

/** `VITASCOPE_MASTER_KEY_FILE` */
export const MASTER_KEY_FILE: Description = {
  description:
    'File with the key that finds and decrypts API keys and encrypts stored secrets, 32 characters or more. [Rotation](../operate/security.md#keys) replaces it.',
}

/** `VITASCOPE_PORT` without its bounds */
export const PORT = { fallback: 8080, description: 'Port on which the gateway listens.' }

/** `VITASCOPE_PUBLIC_URL` without its default */
export const PUBLIC_URL = { protocols: ['http:', 'https:'], description: 'Prefix of generated URLs and of the links in messages.' }

/** `VITASCOPE_REDIS_URL` */
export const REDIS_URL = {
  protocols: ['redis:', 'rediss:'],
  description:
    '`redis://` or `rediss://`. Several gateways then share rate limits ([0010](../adr/0010-redis-is-a-convenience.md)). The loss of Redis loses no data.',
}

/** `VITASCOPE_SMTP_URL` */
export const SMTP_URL = {
  protocols: ['smtp:', 'smtps:'],
  description:
    '`smtp://user:password@host:port` or `smtps://…` of the mail server for messages to users. Without it, messages are files in `VITASCOPE_MAIL_DIR`.',
}

/** `VITASCOPE_SYSTEM_KEY` */
export const SYSTEM_KEY: Description = {
  defaultText: 'created at the first start',
  description:
    'First API key, which is the key of the system user: 20 to 128 characters of `[A-Za-z0-9_-]`. It is applied if it differs from the value that was applied last, and then replaces the key.',
}

/** `VITASCOPE_TOKEN_KEYS_FILE` */
export const TOKEN_KEYS_FILE: Description = {
  description: 'File with the keys that sign and verify the tokens of videos. See [Keys](../operate/security.md#keys).',
}

/** `VITASCOPE_TRUST_PROXY` */
export const TRUST_PROXY = {
  description: 'Networks of proxies in front of the gateway and of the public address of delivery, whose `X-Forwarded-For` is used.',
}

/** `VITASCOPE_UPLOAD_SIGNING_KEY_FILE` */
export const UPLOAD_SIGNING_KEY_FILE: Description = {
  description:
    'File with the key that signs upload links and upload policies, 32 characters or more. See [Keys](../operate/security.md#keys).',
}

/** Reads the address of the gRPC server of another service. `service` is its name in settings, such as `CATALOGUE`. */
export function readServiceAddress(read: Reader, service: string): string {
  return read.address(`VITASCOPE_${service}_ADDRESS`, { description: `Address of the gRPC server of ${service.toLowerCase()}.` })
}

/** Reads the address of `/metrics`, `/healthz` and `/readyz`. */
export function readMetricsAddress(read: Reader, service: string): string {
  return read.address(`VITASCOPE_${service}_METRICS_LISTEN`, {
    fallback: '127.0.0.1:0',
    description: 'Address of `/metrics`, `/healthz` and `/readyz`. See [Health](../operate/monitor.md#health).',
  })
}

/** Reads the address on which a service serves requests; port 0 selects any free port. */
export function readListenAddress(read: Reader, service: string): string {
  return read.address(`VITASCOPE_${service}_LISTEN`, {
    fallback: '127.0.0.1:0',
    description: 'Address on which the service serves requests. Port 0 selects any free port.',
  })
}

/** Reads the limits of files that are sent to clients. */
export function readDownloadLimits(read: Reader): { perAddress: number; total: number } {
  return {
    perAddress: read.int('VITASCOPE_DOWNLOADS_PER_ADDRESS', {
      fallback: 256,
      min: 1,
      max: 100_000,
      description:
        'Concurrent files sent to one client address (IPv6: to one /48), at each process. See [Slow clients](../operate/scale.md#slow-clients).',
    }),
    total: read.int('VITASCOPE_DOWNLOADS_AT_ONCE', {
      fallback: 4_096,
      min: 1,
      max: 1_000_000,
      description: 'Concurrent files sent to all clients, at each process. See [Slow clients](../operate/scale.md#slow-clients).',
    }),
  }
}

/** Reads the networks that are not public and that the platform may fetch from or call. `check` rejects an item with a message. */
export function readSourceAllow(read: Reader, check: (network: string) => string | undefined): string[] {
  return read.list('VITASCOPE_SOURCE_ALLOW', {
    check,
    description: 'Networks (CIDR) that are not public and that sources, caption files and webhooks may use.',
  })
}

/** Reads the URL of the proxy through which sources are fetched; undefined without one. `check` rejects it with a message. */
export function readSourceProxy(read: Reader, check: (url: string) => string | undefined): string | undefined {
  const url = read.secret('VITASCOPE_SOURCE_PROXY', {
    description:
      '`http://[user:password@]host:port` of the HTTP proxy through which sources, pictures and caption files are fetched. The proxy resolves their names. See [Proxy for sources](../operate/security.md#proxy-for-sources).',
  })
  const problem = url === undefined ? undefined : check(url)
  if (problem !== undefined) read.addProblem(`VITASCOPE_SOURCE_PROXY ${problem}`)
  return url
}

/** Reads the path of the MMDB file with the countries of addresses; undefined if countries are unknown. */
export function readCountryDatabaseFile(read: Reader): string | undefined {
  return read.optional('VITASCOPE_COUNTRY_DATABASE_FILE', {
    description:
      'MMDB file with the countries of addresses, such as GeoLite2 Country or DB-IP Country Lite, for [playback rules](../guides/protect-videos.md#countries) and [views by country](../guides/measure-views.md#dimensions). Without it, countries are unknown.',
  })
}

/** Reads the scratch folder. `storage` is the storage folder, if there is one. */
export function readScratchDir(read: Reader, storage: string | undefined): string {
  return read.text('VITASCOPE_SCRATCH_DIR', {
    fallback: storage === undefined ? undefined : `${storage}-scratch`,
    defaultText: '`VITASCOPE_STORAGE_DIR` with the suffix `-scratch`; required with a bucket',
    description: 'Scratch folder. It works best on the file system of the storage folder. See [Scratch](../operate/storage.md#scratch).',
  })
}
