import { hostname, totalmem } from 'node:os'
import { join } from 'node:path'

import {
  CRASH_AT,
  type ObjectStoreSettings,
  type Reader,
  readEnvironment,
  readMetricsAddress,
  readObjectStore,
  readPrincipalKeys,
  readScratchDir,
  readServiceAddress,
  readTls,
} from '@vitascope/config'
import type { PrincipalKeySettings, TlsSettings } from '@vitascope/grpc'

/** Settings of a worker. */
export interface WorkerConfig {
  /** `HOST:PORT` of the encoding service. */
  encodingAddress: string
  /** TLS between services. Undefined for plain text. */
  tls?: TlsSettings | undefined
  /** The key that signs its calls. */
  principalKeys: PrincipalKeySettings
  /** Stable over a restart and unique among workers. */
  name: string
  /** Number of concurrent tasks. */
  slots: number
  /**
   * The chunk of a pod of a Kubernetes Job. Undefined for a worker that runs all kinds of tasks.
   */
  chunk: WorkerChunk | undefined
  /** Seconds without a task after which the worker stops. Undefined to wait forever. */
  idleSeconds?: number | undefined
  /** MiB of memory that concurrent chunks may use together. */
  memoryMib: number
  objects: ObjectStoreSettings
  /** Emptied at start. */
  scratchDir: string
  /** Maximum scratch bytes of all tasks together. Undefined for the free space of the disk. */
  scratchBytes?: number | undefined
  /** Percentage of the disk that stays free, at most half of what is free. */
  scratchSparePercent?: number
  /** Path of ffmpeg. Undefined to search for it. */
  ffmpeg: string | undefined
  /** Path of LibreOffice. Undefined to search for it, `off` to disable it. */
  office: string | undefined
  /** `HOST:PORT` of `/metrics`. */
  metricsListen: string
  /** See `crash-point.ts`. For tests. */
  crashAt: string | undefined
  timing: WorkerTiming
}

/**
 * The job whose video a pod encodes, and the chunk of the pod's index. The pod leases the lowest
 * waiting chunk of the job, which may be another one.
 */
export interface WorkerChunk {
  jobId: string
  /** Number in the plan, from 0. */
  chunk: number
}

export interface WorkerTiming {
  /** Maximum interval between lease renewals, a third of the lease or less. */
  heartbeatMs: number
  /** Seconds without progress after which ffmpeg is killed. */
  stallSeconds: number
}

export const defaultWorkerTiming: WorkerTiming = { heartbeatMs: 5_000, stallSeconds: 30 }

/**
 * Returns three quarters of the memory of the machine or container, in MiB, but at least 128. The
 * rest is for Node and for other memory of tasks.
 */
function defaultMemoryMib(): number {
  const limit = process.constrainedMemory()
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(128, Math.floor((bytes * 0.75) / 2 ** 20))
}

export function readWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const read = readEnvironment(env)
  const objects = readObjectStore(read)
  const chunk = readChunk(read)
  // A replacement pod for the same chunk of the same run supersedes the pod before it.
  const name =
    chunk?.name ??
    read.text('VITASCOPE_WORKER_NAME', {
      fallback: hostname(),
      defaultText: 'host name',
      description:
        'Name that is unique among workers, and the same after a restart: 1 to 100 characters of `[A-Za-z0-9._-]`. A new process with the name replaces the old one at once.',
    })
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(name))
    read.addProblem('VITASCOPE_WORKER_NAME must have 1 to 100 characters of A-Z, a-z, 0-9, ., _ and -')
  const config: WorkerConfig = {
    encodingAddress: readServiceAddress(read, 'ENCODING'),
    tls: readTls(read),
    principalKeys: readPrincipalKeys(read, { isServer: false }),
    name,
    chunk: chunk?.chunk,
    slots: read.int('VITASCOPE_WORKER_SLOTS', {
      fallback: 1,
      min: 1,
      max: 64,
      description: 'Concurrent tasks. One encode uses two cores. Audio is encoded in addition.',
    }),
    idleSeconds:
      read.int('VITASCOPE_WORKER_IDLE_SECONDS', {
        fallback: 0,
        min: 0,
        max: 86_400,
        description: 'A worker without a task for this time exits with 0. 0 disables this. For workers that are started on demand.',
      }) || undefined,
    memoryMib: read.int('VITASCOPE_WORKER_MEMORY_MIB', {
      fallback: defaultMemoryMib(),
      min: 128,
      max: 16 * 2 ** 20,
      defaultText: 'three quarters of the memory of the container or machine',
      description: 'Memory of all chunks that are encoded at once. See [Memory of a worker](../operate/scale.md#memory-of-a-worker).',
    }),
    objects,
    scratchDir: join(readScratchDir(read, 'folder' in objects ? objects.folder : undefined), `worker-${name}`),
    scratchBytes:
      read.int('VITASCOPE_SCRATCH_BYTES', {
        fallback: 0,
        min: 2 ** 20,
        max: 2 ** 49,
        defaultText: 'free space of its disk; without bound on the disk of the storage folder',
        description:
          'Scratch space of all tasks of a worker. Tasks wait for space, and one that never fits fails with 5004. See [Scratch](../operate/storage.md#scratch).',
      }) || undefined,
    scratchSparePercent: read.int('VITASCOPE_SCRATCH_SPARE_PERCENT', {
      fallback: 0,
      min: 0,
      max: 90,
      description:
        'Percentage of the scratch disk that stays free, at most half of the free space. A kubelet evicts pods below 15 % of free space. See [Scratch](../operate/storage.md#scratch).',
    }),
    ffmpeg: read.optional('VITASCOPE_FFMPEG', {
      defaultText: 'found',
      description:
        'Path of ffmpeg, with ffprobe in the same folder. A path that cannot be used stops the start. The default is the ffmpeg of the system from version 5.1 on, otherwise the packaged one. See [Supported builds](../operate/images.md#supported-builds-of-ffmpeg).',
    }),
    office: read.optional('VITASCOPE_LIBREOFFICE', {
      defaultText: 'found',
      description:
        'Path of `soffice.bin`, for slides of PPTX and ODP files. `off` disables it. It is used only if user namespaces allow its sandbox. Without LibreOffice, PPTX and ODP files are rejected.',
    }),
    crashAt: read.optional('VITASCOPE_CRASH_AT', CRASH_AT),
    metricsListen: readMetricsAddress(read, 'WORKER'),
    timing: {
      heartbeatMs: read.int('VITASCOPE_WORKER_HEARTBEAT_MS', {
        fallback: defaultWorkerTiming.heartbeatMs,
        min: 50,
        max: 60_000,
        description: 'Interval of heartbeats.',
      }),
      stallSeconds: read.int('VITASCOPE_WORKER_STALL_SECONDS', {
        fallback: defaultWorkerTiming.stallSeconds,
        min: 1,
        max: 3600,
        description: 'ffmpeg without progress is killed after this time.',
      }),
    },
  }
  read.check()
  return config
}

/**
 * Returns the name and the chunk of this pod, or undefined for a worker that is not a pod of a
 * Kubernetes Job. The name consists of the name of the Kubernetes Job and the index of the pod.
 */
function readChunk(read: Reader): { name: string; chunk: WorkerChunk } | undefined {
  const run = read.optional('VITASCOPE_WORKER_RUN', {
    description: 'Name of the Kubernetes Job of this pod. Makes the worker a pod that encodes chunks of one job.',
  })
  if (run === undefined) return undefined
  const jobId = read.text('VITASCOPE_WORKER_JOB', { defaultText: 'required in a Job', description: 'Id of the encode job.' })
  const chunks = read.list('VITASCOPE_WORKER_CHUNKS', {
    check: (item) => (/^\d{1,6}$/.test(item) ? undefined : 'is not the number of a chunk'),
    defaultText: 'required in a Job',
    description: 'The first chunks, one for each index.',
  })
  const index = read.int('JOB_COMPLETION_INDEX', {
    fallback: -1,
    min: 0,
    max: 999_999,
    defaultText: 'required in a Job',
    description: 'Index of the pod.',
  })
  const chunk = chunks[index]
  if (chunk === undefined) read.addProblem('JOB_COMPLETION_INDEX must be an index into VITASCOPE_WORKER_CHUNKS, from 0')
  return { name: `${run}-${index}`, chunk: { jobId, chunk: Number(chunk) } }
}
