import type { EncodePlan, PictureCodec, SourceProbe } from '@vitascope/media'
import type { StoredSource } from '../job/job.ts'

/** What is to be done for a job; a source is fetched by this service itself, the rest is for workers. */
export type TaskKind = 'fetch' | WorkerTaskKind
export type WorkerTaskKind = 'probe' | 'encode' | 'audio' | 'package' | 'slides'

export const WORKER_KINDS: readonly WorkerTaskKind[] = ['probe', 'encode', 'audio', 'package', 'slides']

/**
 * A probe is short and tells soonest what is wrong; slides take seconds; then what is nearly done comes before what has not begun. Sound costs
 * little, and nothing can be watched before it.
 */
export const PRIORITIES: Readonly<Record<TaskKind, number>> = { fetch: 0, probe: 30, slides: 25, package: 20, audio: 15, encode: 10 }
/** The least that work of a job has which does not give way; that of one that does is always below. */
export const LEAST_PRIORITY = Math.min(...Object.values(PRIORITIES))

/** What the queue keeps of a task; the rest is read from the job when the task is leased. */
export interface TaskPayload {
  /** Which chunk of the plan, for `encode`; the number behind the last one for `audio`. */
  chunk?: number
}

// The JSON between this service and its workers. Lists of files go through storage, because they may be longer than a message can be.

/** A file that a worker has put into storage. */
export interface StoredFile {
  /** Relative to the prefix of the lease that put it there. */
  path: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Length of a segment. */
  seconds?: number
}

export interface ProbeInput {
  source: StoredSource
  maxSeconds: number
}

export interface ProbeResult {
  probe: SourceProbe
  /** The build of ffmpeg that the plan is for. */
  build: { version: string; toneMap: boolean; codecs?: readonly PictureCodec[] }
}

/** Of `encode` and `audio`. */
export interface EncodeInput {
  source: StoredSource
  plan: EncodePlan
  chunk: number
  /** Where the segments go, and the list of them. */
  workPrefix: string
}

/** Of all but `probe`: the list of files lies in storage, as `FILE_LIST` below the work prefix. */
export interface FilesResult {
  list: Omit<StoredFile, 'path'>
}

/** The segments of one chunk: `KEY/init.mp4` and `KEY/seg-00001.m4s` on. */
export interface ChunkFiles {
  chunk: number
  prefix: string
  list: string
}

export interface PackageInput {
  plan: EncodePlan
  chunks: ChunkFiles[]
  /** Where the set goes. */
  setPrefix: string
  /** Where the list of its files goes. */
  workPrefix: string
}

export interface SlidesInput {
  source: StoredSource
  /** Where the pictures go. */
  setPrefix: string
  /** Where the list of them goes. */
  workPrefix: string
}

/** A file of a set of slides: the two pictures of a page, or the PDF that all were made of. */
export type SlidesFile = StoredFile &
  ({ kind: 'slide'; page: number; width: number; height: number } | { kind: 'thumbnail'; page: number } | { kind: 'document' })

/** The name of every list of files, below its work prefix. */
export const FILE_LIST = 'files.json'
