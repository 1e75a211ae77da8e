import { join } from 'node:path'
import { type ObjectStoreSettings, readEnvironment, readObjectStore } from '@vitascope/config'
import { checkNetwork } from '@vitascope/fetch'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'
import { type KubernetesSettings, readExecutor } from './kubernetes/executor-config.ts'
import type { SourceLimits } from './source/fetch-source.ts'

/** Settings of the service. */
export interface EncodingConfig extends GrpcServiceConfig {
  /** Signs upload links and upload policies, and encrypts stored responses that contain a link. */
  uploadSigningKey: string
  /** `HOST:PORT` of the catalogue, which receives the reports. */
  catalogueAddress: string
  /** `HOST:PORT` of the HTTP server that receives uploads from the gateway. */
  uploadListen: string
  /** Seconds without activity after which a resumable upload is removed. */
  uploadKeptSeconds: number
  /** Settings of the object store. */
  objects: ObjectStoreSettings
  /** Folder for sources during their download. */
  scratchDir: string
  source: SourceLimits
  timing: Timing
  /** Settings of Kubernetes Jobs that encode chunks of video. Undefined if workers encode them. */
  kubernetes: KubernetesSettings | undefined
  /** Names a point at which this process kills itself, for recovery tests. */
  crashAt: string | undefined
}

export interface Timing {
  /** How long a worker keeps a task without renewing its lease. */
  leaseMs: number
  /** The same for a download, whose lease this service holds itself. */
  fetchLeaseMs: number
  /** Interval of the reconciler. */
  reconcileMs: number
  /**
   * Pause before the second attempt of a job after a fault of the encoder. It is four times as long
   * before the third.
   */
  retryMs: number
  /** A low-priority task that waits longer raises its job to normal priority. */
  lowPriorityMaxWaitSeconds: number
}

export const defaultTiming: Timing = {
  leaseMs: 30_000,
  fetchLeaseMs: 10_000,
  reconcileMs: 10_000,
  retryMs: 2_000,
  lowPriorityMaxWaitSeconds: 3_600,
}

const GIB = 1024 ** 3

export function readConfig(env: NodeJS.ProcessEnv): EncodingConfig {
  const read = readEnvironment(env)
  const objects = readObjectStore(read)
  const config: EncodingConfig = {
    ...readGrpcServiceConfig(read, 'ENCODING'),
    uploadSigningKey: read.secretFile('VITASCOPE_UPLOAD_SIGNING_KEY_FILE'),
    catalogueAddress: read.address('VITASCOPE_CATALOGUE_ADDRESS'),
    uploadListen: read.address('VITASCOPE_ENCODING_UPLOAD_LISTEN', '127.0.0.1:0'),
    uploadKeptSeconds: read.int('VITASCOPE_UPLOAD_KEPT_SECONDS', 86_400, { min: 1, max: 30 * 86_400 }),
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
      lowPriorityMaxWaitSeconds: read.int('VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS', defaultTiming.lowPriorityMaxWaitSeconds, {
        min: 1,
        max: 30 * 86_400,
      }),
    },
    kubernetes: readExecutor(read),
    crashAt: read.optional('VITASCOPE_CRASH_AT'),
  }
  if (config.uploadSigningKey !== '' && config.uploadSigningKey.length < 32) {
    read.refuse('VITASCOPE_UPLOAD_SIGNING_KEY_FILE: the file must hold 32 characters or more')
  }
  read.check()
  return config
}
