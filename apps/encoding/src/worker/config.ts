import { hostname, totalmem } from 'node:os'
import { join } from 'node:path'

import { type ObjectStoreSettings, type Reader, readEnvironment, readObjectStore, readTls } from '@vitascope/config'
import type { TlsSettings } from '@vitascope/grpc'

/** What a worker can be told. */
export interface WorkerConfig {
  /** `HOST:PORT` of the service that hands out the work. */
  encodingAddress: string
  /** Between services; undefined for plain text. */
  tls?: TlsSettings | undefined
  /** Signs principals. */
  principalKey: string
  /** Keeps its name over a restart; no other worker may have it. */
  name: string
  /** How many tasks at once. */
  slots: number
  /** What a pod of a Kubernetes Job is there for; undefined for a worker that does whatever there is. */
  chunk: WorkerChunk | undefined
  /** After so many seconds without a task it ends by itself; undefined: it waits for ever. */
  idleSeconds?: number | undefined
  /** MiB that the chunks which are encoded at once may take together. */
  memoryMib: number
  objects: ObjectStoreSettings
  /** Emptied at the start. */
  scratchDir: string
  /** What tasks may take of it together; undefined: what its disk has. */
  scratchBytes?: number | undefined
  /** So much of that disk stays free, at most half of what is free. */
  scratchSparePercent?: number
  /** Path of ffmpeg; undefined looks for one. */
  ffmpeg: string | undefined
  /** Path of LibreOffice; undefined looks for one, `off` does without. */
  office: string | undefined
  /** `HOST:PORT` of `/metrics`. */
  metricsListen: string
  /** See `crash-point.ts`; for tests. */
  crashAt: string | undefined
  timing: WorkerTiming
}

/** The job whose picture a pod encodes, and a chunk of it that it asks for: it is handed the lowest that waits. */
export interface WorkerChunk {
  jobId: string
  /** Its number in the plan, from 0. */
  chunk: number
}

export interface WorkerTiming {
  /** Between two signs of life, at most; a third of the lease or less. */
  beatMs: number
  /** Seconds without progress after which ffmpeg is killed. */
  stallSeconds: number
}

export const defaultWorkerTiming: WorkerTiming = { beatMs: 5_000, stallSeconds: 30 }

/** Three quarters of what this machine or its container has: the rest is for Node, and for what tasks take beside their chunks. */
function memoryOfThisMachine(): number {
  const limit = process.constrainedMemory()
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(128, Math.floor((bytes * 0.75) / 2 ** 20))
}

export function readWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const read = readEnvironment(env)
  const objects = readObjectStore(read)
  const chunk = readChunk(read)
  // Whoever comes for the same chunk of the same run takes the place of the one before.
  const name = chunk?.name ?? read.text('VITASCOPE_WORKER_NAME', hostname())
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(name)) read.refuse('VITASCOPE_WORKER_NAME must have 1 to 100 characters of A-Z, a-z, 0-9, ., _ and -')
  const config: WorkerConfig = {
    encodingAddress: read.address('VITASCOPE_ENCODING_ADDRESS'),
    tls: readTls(read),
    principalKey: read.secretFile('VITASCOPE_PRINCIPAL_KEY_FILE'),
    name,
    chunk: chunk?.chunk,
    slots: read.int('VITASCOPE_WORKER_SLOTS', 1, { min: 1, max: 64 }),
    idleSeconds: read.int('VITASCOPE_WORKER_IDLE_SECONDS', 0, { min: 0, max: 86_400 }) || undefined,
    memoryMib: read.int('VITASCOPE_WORKER_MEMORY_MIB', memoryOfThisMachine(), { min: 128, max: 16 * 2 ** 20 }),
    objects,
    scratchDir: join(read.text('VITASCOPE_SCRATCH_DIR', 'folder' in objects ? `${objects.folder}-scratch` : undefined), `worker-${name}`),
    scratchBytes: read.int('VITASCOPE_SCRATCH_BYTES', 0, { min: 2 ** 20, max: 2 ** 49 }) || undefined,
    scratchSparePercent: read.int('VITASCOPE_SCRATCH_SPARE_PERCENT', 0, { min: 0, max: 90 }),
    ffmpeg: read.optional('VITASCOPE_FFMPEG'),
    office: read.optional('VITASCOPE_LIBREOFFICE'),
    crashAt: read.optional('VITASCOPE_CRASH_AT'),
    metricsListen: read.address('VITASCOPE_WORKER_METRICS_LISTEN', '127.0.0.1:0'),
    timing: {
      beatMs: read.int('VITASCOPE_WORKER_BEAT_MS', defaultWorkerTiming.beatMs, { min: 50, max: 60_000 }),
      stallSeconds: read.int('VITASCOPE_WORKER_STALL_SECONDS', defaultWorkerTiming.stallSeconds, { min: 1, max: 3600 }),
    },
  }
  read.check()
  return config
}

/** A run is a Kubernetes Job, and this process the pod of one index of it. */
function readChunk(read: Reader): { name: string; chunk: WorkerChunk } | undefined {
  const run = read.optional('VITASCOPE_WORKER_RUN')
  if (run === undefined) return undefined
  const jobId = read.text('VITASCOPE_WORKER_JOB')
  const chunks = read.list('VITASCOPE_WORKER_CHUNKS', (item) => (/^\d{1,6}$/.test(item) ? undefined : 'is no number of a chunk'))
  const index = read.int('JOB_COMPLETION_INDEX', -1, { min: 0, max: 999_999 })
  const chunk = chunks[index]
  if (chunk === undefined) read.refuse('JOB_COMPLETION_INDEX must be the place of one of VITASCOPE_WORKER_CHUNKS, from 0')
  return { name: `${run}-${index}`, chunk: { jobId, chunk: Number(chunk) } }
}
