import { join } from 'node:path'
import {
  CRASH_AT,
  type ObjectStoreSettings,
  type Reader,
  readEnvironment,
  readObjectStore,
  readScratchDir,
  readServiceAddress,
  readSourceAllow,
  readSourceProxy,
  UPLOAD_SIGNING_KEY_FILE,
} from '@vitascope/config'
import { checkNetwork, checkProxy } from '@vitascope/fetch'
import { masterKeysProblem } from '@vitascope/security'
import { type GrpcServiceConfig, readGrpcServiceConfig } from '@vitascope/service'
import { type KubernetesSettings, readExecutor } from './kubernetes/executor-config.ts'
import type { SourceLimits } from './source/fetch-source.ts'

/** Settings of the service. */
export interface EncodingConfig extends GrpcServiceConfig {
  /** File of the keys that sign upload links and upload policies, and encrypt stored responses that contain a link. */
  uploadSigningKeyFile: string
  /** `HOST:PORT` of the catalogue, which receives the reports. */
  catalogueAddress: string
  /** `HOST:PORT` of the HTTP server that receives uploads from the gateway. */
  uploadListen: string
  /** Seconds without activity after which a resumable upload is removed. */
  uploadRetentionSeconds: number
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
    uploadSigningKeyFile: readUploadSigningKeyFile(read),
    catalogueAddress: readServiceAddress(read, 'CATALOGUE'),
    uploadListen: read.address('VITASCOPE_ENCODING_UPLOAD_LISTEN', {
      fallback: '127.0.0.1:0',
      description:
        'Address that receives the bytes of uploads from the gateway over HTTP. The maximum size of an upload is that of a source.',
    }),
    uploadRetentionSeconds: read.int('VITASCOPE_UPLOAD_RETENTION_SECONDS', {
      fallback: 86_400,
      min: 1,
      max: 30 * 86_400,
      description:
        'A resumable upload (tus) that does not progress or was rejected is removed after this time. A complete upload without a video is removed a week later.',
    }),
    objects,
    scratchDir: join(readScratchDir(read, 'folder' in objects ? objects.folder : undefined), 'fetch'),
    source: {
      allow: readSourceAllow(read, checkNetwork),
      proxy: readSourceProxy(read, checkProxy),
      maxBytes: read.int('VITASCOPE_SOURCE_MAX_BYTES', {
        fallback: 20 * GIB,
        min: 1,
        max: 10_240 * GIB,
        description: 'Maximum size of a source.',
      }),
      timeoutSeconds: read.int('VITASCOPE_SOURCE_TIMEOUT_SECONDS', {
        fallback: 6 * 3600,
        min: 1,
        max: 7 * 86_400,
        description: 'Maximum duration of the download of a source.',
      }),
      minBytesPerSecond: read.int('VITASCOPE_SOURCE_MIN_BYTES_PER_SECOND', {
        fallback: 1024,
        min: 0,
        max: GIB,
        description: 'Minimum rate of the download of a source.',
      }),
      maxSeconds: read.int('VITASCOPE_SOURCE_MAX_SECONDS', {
        fallback: 12 * 3600,
        min: 1,
        max: 7 * 86_400,
        description: 'Maximum duration of a source.',
      }),
      parallel: read.int('VITASCOPE_SOURCES_PARALLEL', {
        fallback: 2,
        min: 1,
        max: 64,
        description: 'Concurrent downloads of sources.',
      }),
      maxJobsAhead: read.int('VITASCOPE_SOURCES_AHEAD', {
        fallback: 8,
        min: 1,
        max: 10_000,
        description:
          'Maximum number of active jobs, including those whose source waits for a worker. Further downloads wait. Jobs of low priority delay only downloads of low priority.',
      }),
      keepsSources: read.flag('VITASCOPE_KEEP_SOURCES', {
        fallback: true,
        description:
          '1: the source is stored with its video. Renditions that are added later are encoded from it, without a second loss of quality. The source counts in no quota and is deleted with the video. 0: the source is removed when the video is published, and later renditions are made from the largest rendition.',
      }),
    },
    timing: {
      leaseMs: read.int('VITASCOPE_LEASE_MS', {
        fallback: defaultTiming.leaseMs,
        min: 500,
        max: 600_000,
        description: 'Lease of a task.',
      }),
      fetchLeaseMs: read.int('VITASCOPE_FETCH_LEASE_MS', {
        fallback: defaultTiming.fetchLeaseMs,
        min: 500,
        max: 600_000,
        description: 'Lease of a download.',
      }),
      reconcileMs: read.int('VITASCOPE_RECONCILE_MS', {
        fallback: defaultTiming.reconcileMs,
        min: 100,
        max: 600_000,
        description: 'Interval of the reconciler.',
      }),
      retryMs: read.int('VITASCOPE_RETRY_MS', {
        fallback: defaultTiming.retryMs,
        min: 0,
        max: 600_000,
        description: 'Pause before the second attempt of a job. It is four times as long before the third.',
      }),
      lowPriorityMaxWaitSeconds: read.int('VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS', {
        fallback: defaultTiming.lowPriorityMaxWaitSeconds,
        min: 1,
        max: 30 * 86_400,
        description: 'A waiting upload of `low` priority is treated as `normal` after this time.',
      }),
    },
    kubernetes: readExecutor(read),
    crashAt: read.optional('VITASCOPE_CRASH_AT', CRASH_AT),
  }
  read.check()
  return config
}

function readUploadSigningKeyFile(read: Reader): string {
  const problem = masterKeysProblem(read.secretFile('VITASCOPE_UPLOAD_SIGNING_KEY_FILE', UPLOAD_SIGNING_KEY_FILE))
  if (problem !== undefined) read.addProblem(`VITASCOPE_UPLOAD_SIGNING_KEY_FILE ${problem}`)
  return read.optional('VITASCOPE_UPLOAD_SIGNING_KEY_FILE') ?? ''
}
