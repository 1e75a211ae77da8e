import { resolve } from 'node:path'
import {
  ANALYTICS_RETENTION_DAYS,
  AUDIT_DAYS,
  HOST,
  IDEMPOTENCY_HASH_KEY_FILE,
  LIMITS,
  MASTER_KEY_FILE,
  PORT,
  PUBLIC_URL,
  REDIS_URL,
  type Reader,
  readEnvironment,
  S3_ENDPOINT,
  SMTP_URL,
  SYSTEM_KEY,
  TOKEN_KEYS_FILE,
  UPLOAD_SIGNING_KEY_FILE,
} from '@vitascope/config'

/** Settings of `npm start`. */
export interface PlatformConfig {
  host: string
  port: number
  opsPort: number
  dataDir: string
  publicUrl: string
  /**
   * URL of an external PostgreSQL, with a role that may create roles and schemas. Undefined if the
   * platform starts an embedded one.
   */
  databaseUrl: string | undefined
  /** A transaction pooler in front of `databaseUrl`. */
  poolerUrl: string | undefined
  systemKey: string | undefined
  /** Secret files that replace those in the data folder. */
  secretFiles: Partial<Record<'masterKey' | 'tokenKeys' | 'uploadSigningKey' | 'idempotencyHashKey', string | undefined>>
  /** Settings of single services, which receive them unchanged. */
  forwardedEnvironment: Record<string, string>
}

/** Default of the secrets in the settings reference. */
const CREATED = 'created in `secrets/` of the data folder'

const SERVICES = ['AUTH', 'CATALOGUE', 'ENCODING', 'COLLABORATION', 'ANALYTICS', 'DELIVERY', 'GATEWAY', 'WORKER']

/** Settings that are forwarded as values, whether they come from NAME or from the file in NAME_FILE. */
const SECRETS = [
  'VITASCOPE_REDIS_URL',
  'VITASCOPE_REDIS_SENTINEL_PASSWORD',
  'VITASCOPE_SMTP_URL',
  'VITASCOPE_SOURCE_PROXY',
  'VITASCOPE_OIDC_CLIENT_SECRET',
  'VITASCOPE_CDN_PURGE_URL',
  'VITASCOPE_CDN_PURGE_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
  ...SERVICES.flatMap((service) => [`VITASCOPE_${service}_DATABASE_URL`, `VITASCOPE_${service}_DATABASE_DIRECT_URL`]),
]

/** Settings of the command line tool, which may be exported in the shell that starts the platform. */
const CLIENT_SETTINGS = ['VITASCOPE_HOME', 'VITASCOPE_KEY', 'VITASCOPE_ORGANISATION', 'VITASCOPE_URL']

/** Settings that are forwarded unchanged. */
const FORWARDED = [
  'VITASCOPE_LOG_LEVEL',
  ...['SDK_DISABLED', 'TRACES_EXPORTER', 'TRACES_SAMPLER', 'TRACES_SAMPLER_ARG', 'RESOURCE_ATTRIBUTES'].map((suffix) => `OTEL_${suffix}`),
  ...['ENDPOINT', 'TRACES_ENDPOINT', 'PROTOCOL', 'TIMEOUT', 'COMPRESSION', 'CERTIFICATE'].map((suffix) => `OTEL_EXPORTER_OTLP_${suffix}`),
  ...['SCHEDULE_DELAY', 'MAX_QUEUE_SIZE', 'MAX_EXPORT_BATCH_SIZE'].map((suffix) => `OTEL_BSP_${suffix}`),
  'VITASCOPE_CLIENT_TRACES_PER_SECOND',
  'VITASCOPE_DATABASE_POOL_SIZE',
  'VITASCOPE_TLS_DIR',
  'VITASCOPE_TLS_CALLERS',
  'VITASCOPE_GRPC_CONNECTION_SECONDS',
  'VITASCOPE_GRPC_CONNECTION_GRACE_SECONDS',
  'VITASCOPE_GRPC_REFLECTION',
  'VITASCOPE_REDIS_SENTINELS',
  'VITASCOPE_REDIS_SENTINEL_NAME',
  'VITASCOPE_REDIS_CLUSTER_NODES',
  'VITASCOPE_LIMITS',
  'VITASCOPE_ALLOWED_CRAWLERS',
  'VITASCOPE_AUDIT_DAYS',
  'VITASCOPE_CORS_ORIGINS',
  'VITASCOPE_DO_NOT_TRACK',
  'VITASCOPE_TRUST_PROXY',
  'VITASCOPE_SOURCE_ALLOW',
  'VITASCOPE_S3_ENDPOINT',
  'VITASCOPE_S3_REGION',
  'VITASCOPE_S3_BUCKET',
  'VITASCOPE_S3_CREDENTIALS',
  'VITASCOPE_S3_ENCRYPTION',
  'VITASCOPE_S3_KMS_KEY',
  // Services read these files again, so the file of the id is forwarded instead of its value.
  'VITASCOPE_S3_ACCESS_KEY_ID',
  'VITASCOPE_S3_ACCESS_KEY_ID_FILE',
  'VITASCOPE_S3_SECRET_KEY_FILE',
  'VITASCOPE_S3_VIRTUAL_HOST',
  'VITASCOPE_DELIVERY_S3',
  'VITASCOPE_DELIVERY_STORAGE_READS',
  'VITASCOPE_DELIVERY_CACHE_BYTES',
  'VITASCOPE_DELIVERY_OUTAGE_SECONDS',
  'VITASCOPE_COUNTRY_DATABASE_FILE',
  'VITASCOPE_DELIVERY_PUBLIC_LISTEN',
  'VITASCOPE_DELIVERY_ACCEL_PATH',
  'VITASCOPE_DELIVERY_PUBLIC_URL',
  'VITASCOPE_MAIL_FROM',
  ...['ISSUER', 'CLIENT_ID', 'GROUPS_CLAIM', 'USER_TYPES', 'ORGANISATION'].map((suffix) => `VITASCOPE_OIDC_${suffix}`),
  ...['MAX_BYTES', 'TIMEOUT_SECONDS', 'MIN_BYTES_PER_SECOND', 'MAX_SECONDS'].map((suffix) => `VITASCOPE_SOURCE_${suffix}`),
  ...[
    'SOURCES_PARALLEL',
    'SOURCES_AHEAD',
    'KEEP_SOURCES',
    'LEASE_MS',
    'FETCH_LEASE_MS',
    'RECONCILE_MS',
    'RETRY_MS',
    'LOW_PRIORITY_MAX_WAIT_SECONDS',
  ].map((suffix) => `VITASCOPE_${suffix}`),
  ...['SLOTS', 'MEMORY_MIB', 'HEARTBEAT_MS', 'STALL_SECONDS'].map((suffix) => `VITASCOPE_WORKER_${suffix}`),
  'VITASCOPE_ENCODING_UPLOAD_LISTEN',
  'VITASCOPE_ENCODING_UPLOAD_URL',
  'VITASCOPE_UPLOAD_RETENTION_SECONDS',
  'VITASCOPE_UPLOADS_PER_ORGANISATION',
  ...['UPLOADS', 'DOWNLOADS'].flatMap((suffix) => [`VITASCOPE_${suffix}_PER_ADDRESS`, `VITASCOPE_${suffix}_AT_ONCE`]),
  ...['SPOOL_DIR', 'SPOOL_BYTES', 'RETENTION_DAYS'].map((suffix) => `VITASCOPE_ANALYTICS_${suffix}`),
  'VITASCOPE_FFMPEG',
  'VITASCOPE_LIBREOFFICE',
  'VITASCOPE_STORAGE_DIR',
  ...['DIR', 'BYTES', 'SPARE_PERCENT'].map((suffix) => `VITASCOPE_SCRATCH_${suffix}`),
  ...SERVICES.flatMap((s) => ['LISTEN', 'ADDRESS'].map((suffix) => `VITASCOPE_${s}_${suffix}`)),
]

/**
 * Rejects obviously invalid settings before anything is started. The services validate them fully.
 */
function checkForwarded(read: Reader): void {
  read.int('VITASCOPE_AUDIT_DAYS', AUDIT_DAYS)
  read.int('VITASCOPE_ANALYTICS_RETENTION_DAYS', ANALYTICS_RETENTION_DAYS)
  read.secretUrl('VITASCOPE_REDIS_URL', REDIS_URL)
  read.secretUrl('VITASCOPE_SMTP_URL', SMTP_URL)
  read.url('VITASCOPE_S3_ENDPOINT', S3_ENDPOINT)
  const limits = read.text('VITASCOPE_LIMITS', LIMITS)
  if (!['default', 'off'].includes(limits) && !isJson(limits)) read.addProblem('VITASCOPE_LIMITS must be default, off, or JSON')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export function readPlatformConfig(env: NodeJS.ProcessEnv): PlatformConfig {
  const read = readEnvironment(env)
  const host = read.text('VITASCOPE_HOST', HOST)
  const port = read.int('VITASCOPE_PORT', { ...PORT, min: 1, max: 65_535 })
  const systemKey = read.secret('VITASCOPE_SYSTEM_KEY', SYSTEM_KEY)
  if (systemKey !== undefined && !/^[A-Za-z0-9_-]{20,128}$/.test(systemKey)) {
    read.addProblem('VITASCOPE_SYSTEM_KEY must have 20 to 128 characters of A-Z, a-z, 0-9, _ and -')
  }
  const config: PlatformConfig = {
    host,
    port,
    opsPort: read.int('VITASCOPE_OPS_PORT', {
      fallback: 9090,
      min: 1,
      max: 65_535,
      description: 'Port of `/metrics`, which has the metrics of all processes.',
    }),
    dataDir: resolve(
      read.text('VITASCOPE_DATA_DIR', {
        fallback: './data',
        description: 'Data folder, also of the commands. One platform uses a folder at a time; a second start is rejected.',
      }),
    ),
    publicUrl: (
      read.url('VITASCOPE_PUBLIC_URL', { ...PUBLIC_URL, defaultText: '`http://HOST:PORT`' }) ??
      `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    ).replace(/(?<!\/)\/+$/, ''),
    databaseUrl: read.secretUrl('VITASCOPE_DATABASE_URL', {
      protocols: ['postgres:', 'postgresql:'],
      defaultText: 'embedded',
      description:
        'URL of a PostgreSQL server, version 15 or newer, with a role that may create roles and schemas. See [External database](../operate/storage.md#external-database).',
    }),
    poolerUrl: read.secretUrl('VITASCOPE_DATABASE_POOLER_URL', {
      protocols: ['postgres:', 'postgresql:'],
      defaultText: 'none',
      description:
        'URL of a transaction pooler such as PgBouncer in front of `VITASCOPE_DATABASE_URL`. Each service replaces user and password by its ' +
        'own. See [Connection poolers](../operate/storage.md#connection-poolers).',
    }),
    systemKey,
    secretFiles: {
      masterKey: read.optional('VITASCOPE_MASTER_KEY_FILE', { ...MASTER_KEY_FILE, defaultText: CREATED }),
      tokenKeys: read.optional('VITASCOPE_TOKEN_KEYS_FILE', { ...TOKEN_KEYS_FILE, defaultText: CREATED }),
      uploadSigningKey: read.optional('VITASCOPE_UPLOAD_SIGNING_KEY_FILE', { ...UPLOAD_SIGNING_KEY_FILE, defaultText: CREATED }),
      idempotencyHashKey: read.optional('VITASCOPE_IDEMPOTENCY_HASH_KEY_FILE', { ...IDEMPOTENCY_HASH_KEY_FILE, defaultText: CREATED }),
    },
    forwardedEnvironment: Object.fromEntries(
      [...SECRETS, ...FORWARDED].flatMap((name) => {
        const value = SECRETS.includes(name) ? read.secret(name) : read.optional(name)
        return value === undefined ? [] : [[name, value]]
      }),
    ),
  }
  checkForwarded(read)
  if (config.poolerUrl !== undefined && config.databaseUrl === undefined)
    read.addProblem('VITASCOPE_DATABASE_POOLER_URL requires VITASCOPE_DATABASE_URL')
  if (config.opsPort === port) read.addProblem('VITASCOPE_OPS_PORT must differ from VITASCOPE_PORT')
  read.rejectUnknown('VITASCOPE_', CLIENT_SETTINGS)
  read.check()
  return config
}
