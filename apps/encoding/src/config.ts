import { join } from 'node:path'
import { type ObjectStoreSettings, readDatabaseUrl, readEnvironment, readObjectStore, readServe, readTls } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'

import type { ServeSettings, TlsSettings } from '@vitascope/grpc'
import { type KubernetesSettings, readExecutor } from './executor/executor-config.ts'

/** What the service can be told. */
export interface EncodingConfig {
  /** `HOST:PORT` of its gRPC server. */
  listen: string
  serve?: ServeSettings
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  databaseUrl: string
  /** Signs and checks principals. */
  principalKey: string
  /** `HOST:PORT` of catalogue, which it reports to. */
  catalogueAddress: string
  /** `HOST:PORT` that takes the bytes of uploads from the gateway, by HTTP. */
  uploadListen: string
  /** After so long an upload in parts that does not go on is removed. */
  uploadKeptSeconds: number
  /** `HOST:PORT` of `/metrics`. */
  metricsListen: string
  /** The folder of the objects. */
  objects: ObjectStoreSettings
  /** Where sources are written while they come in. */
  scratchDir: string
  source: SourceLimits
  timing: Timing
  /** Who encodes chunks of pictures: pods of Kubernetes Jobs; undefined for workers. */
  kubernetes: KubernetesSettings | undefined
  /** Names a point at which this process kills itself, for tests of recovery. */
  crashAt: string | undefined
}

export interface SourceLimits {
  /** Networks that may be fetched from although they are not public. */
  allow: string[]
  maxBytes: number
  /** For all of a source, tries together. */
  timeoutSeconds: number
  minBytesPerSecond: number
  /** A longer source is refused. */
  maxSeconds: number
  /** How many come in at once. */
  parallel: number
  /** How many jobs may be under way, fetched sources waiting for a worker included. */
  ahead: number
  /** Whether it stays beside what was made of it, for renditions that are added later. */
  isKept: boolean
}

export interface Timing {
  /** How long a worker keeps a task without a sign of life. */
  leaseMs: number
  /** The same for a source that comes in, which this service holds itself. */
  fetchLeaseMs: number
  /** Between two looks for what went wrong. */
  reconcileMs: number
  /** Before the second try of a job after a fault of the encoder; four times as long before the third. */
  retryMs: number
}

export const defaultTiming: Timing = { leaseMs: 30_000, fetchLeaseMs: 10_000, reconcileMs: 10_000, retryMs: 2_000 }

const GIB = 1024 ** 3

export function readConfig(env: NodeJS.ProcessEnv): EncodingConfig {
  const read = readEnvironment(env)
  const objects = readObjectStore(read)
  const config: EncodingConfig = {
    listen: read.address('VITASCOPE_ENCODING_LISTEN', '127.0.0.1:0'),
    serve: readServe(read, 'ENCODING'),
    tls: readTls(read),
    databaseUrl: readDatabaseUrl(read, 'ENCODING'),
    principalKey: read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    uploadListen: read.address('VITASCOPE_ENCODING_UPLOAD_LISTEN', '127.0.0.1:0'),
    uploadKeptSeconds: read.int('VITASCOPE_UPLOAD_KEPT_SECONDS', 86_400, { min: 1, max: 30 * 86_400 }),
    metricsListen: read.address('VITASCOPE_ENCODING_METRICS_LISTEN', '127.0.0.1:0'),
    objects,
    scratchDir: join(read.text('VITASCOPE_SCRATCH_DIR', 'folder' in objects ? `${objects.folder}-scratch` : undefined), 'fetch'),
    source: {
      allow: read.list('VITASCOPE_SOURCE_ALLOW', checkNetwork),
      maxBytes: read.int('VITASCOPE_SOURCE_MAX_BYTES', 20 * GIB, { min: 1, max: 10_240 * GIB }),
      timeoutSeconds: read.int('VITASCOPE_SOURCE_TIMEOUT_SECONDS', 6 * 3600, { min: 1, max: 7 * 86_400 }),
      minBytesPerSecond: read.int('VITASCOPE_SOURCE_MIN_BYTES_PER_SECOND', 1024, { min: 0, max: GIB }),
      maxSeconds: read.int('VITASCOPE_SOURCE_MAX_SECONDS', 12 * 3600, { min: 1, max: 7 * 86_400 }),
      parallel: read.int('VITASCOPE_SOURCES_PARALLEL', 2, { min: 1, max: 64 }),
      ahead: read.int('VITASCOPE_SOURCES_AHEAD', 8, { min: 1, max: 10_000 }),
      isKept: read.flag('VITASCOPE_SOURCES_KEPT', true),
    },
    timing: {
      leaseMs: read.int('VITASCOPE_LEASE_MS', defaultTiming.leaseMs, { min: 500, max: 600_000 }),
      fetchLeaseMs: read.int('VITASCOPE_FETCH_LEASE_MS', defaultTiming.fetchLeaseMs, { min: 500, max: 600_000 }),
      reconcileMs: read.int('VITASCOPE_RECONCILE_MS', defaultTiming.reconcileMs, { min: 100, max: 600_000 }),
      retryMs: read.int('VITASCOPE_RETRY_MS', defaultTiming.retryMs, { min: 0, max: 600_000 }),
    },
    kubernetes: readExecutor(read),
    crashAt: read.optional('VITASCOPE_CRASH_AT'),
  }
  read.check()
  return config
}

/** What the migration step needs: no more than the database. */
export function readMigrateConfig(env: NodeJS.ProcessEnv): { databaseUrl: string } {
  const read = readEnvironment(env)
  const config = { databaseUrl: readDatabaseUrl(read, 'ENCODING') }
  read.check()
  return config
}
