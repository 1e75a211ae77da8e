import type { EncodePlan, PictureCodec, SourceProbe } from '@vitascope/media'

/** Kinds of tasks. This service downloads sources itself. Workers run all other tasks. */
export type TaskKind = FetchKind | WorkerTaskKind
/** Pictures are downloaded separately, so that they do not wait for downloads of videos. */
export type FetchKind = 'fetch' | 'fetch-poster'
export type WorkerTaskKind = 'probe' | 'encode' | 'audio' | 'package' | 'slides' | 'poster'

export const WORKER_KINDS: readonly WorkerTaskKind[] = ['probe', 'encode', 'audio', 'package', 'slides', 'poster']
export const TASK_KINDS: readonly TaskKind[] = ['fetch', 'fetch-poster', ...WORKER_KINDS]

/**
 * Priority by kind, higher first. A poster is first, because a user waits for it. A probe is short
 * and detects faults of the source early. Slides take seconds. Nearly finished work precedes new
 * work. Audio is cheap, and nothing can be played before it.
 */
export const PRIORITIES: Readonly<Record<TaskKind, number>> = {
  fetch: 0,
  'fetch-poster': 0,
  poster: 35,
  probe: 30,
  slides: 25,
  package: 20,
  audio: 15,
  encode: 10,
}
/** Minimum priority of a normal job's task. Tasks of low-priority jobs are always below it. */
export const MIN_PRIORITY = Math.min(...Object.values(PRIORITIES))

// Inputs and results of tasks. `task-message.ts` maps them to the messages between this service and
// its workers. Lists of files go through storage, because they may exceed the maximum size of a
// message.

/** A file that a worker has stored. */
export interface StoredFile {
  /** Relative to the prefix of the lease. */
  path: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
  /** Duration of a segment. */
  seconds?: number
}

/** The source object of a job. */
export interface StoredSource {
  object: string
  bytes: number
  /** Empty if unknown. */
  sha256: string
}

export type TaskInput = ProbeInput | EncodeInput | PackageInput | SlidesInput | PosterInput
export type TaskResult = ProbeResult | FilesResult

export interface ProbeInput {
  kind: 'probe'
  source: StoredSource
  maxSeconds: number
}

export interface ProbeResult {
  kind: 'probe'
  probe: SourceProbe
  /** The build of ffmpeg that the plan is for. */
  build: { version: string; toneMap: boolean; codecs: readonly PictureCodec[] }
}

/** Input of `encode` and `audio`. */
export interface EncodeInput {
  kind: 'encode'
  source: StoredSource
  plan: EncodePlan
  /** Index of the chunk. For `audio`, which covers the whole source, it is the number of chunks. */
  chunk: number
  /** Prefix for the segments and the list of them. */
  workPrefix: string
}

/**
 * Result of all kinds except `probe`. The list of files is stored as `FILE_LIST` below the work
 * prefix.
 */
export interface FilesResult {
  kind: 'files'
  list: Pick<StoredFile, 'bytes' | 'sha256'>
}

/** The files of one encoded chunk: `KEY/init.mp4`, `KEY/seg-NNNNN.m4s` and `KEY/index.m3u8`. */
export interface ChunkFiles {
  chunk: number
  prefix: string
  /** Name of the object with the list of the files. */
  list: string
}

export interface PackageInput {
  kind: 'package'
  plan: EncodePlan
  chunks: ChunkFiles[]
  /** Prefix for the set. */
  setPrefix: string
  /** Prefix for the list of its files. */
  workPrefix: string
}

export interface SlidesInput {
  kind: 'slides'
  source: StoredSource
  /** Prefix for the images. */
  setPrefix: string
  /** Prefix for the list of them. */
  workPrefix: string
}

export interface PosterInput {
  kind: 'poster'
  /** A picture, or a video if `atSeconds` is set. */
  source: StoredSource
  /** Time of the frame of a video. */
  atSeconds: number | undefined
  /** Prefix for the images. */
  setPrefix: string
  /** Prefix for the list of them. */
  workPrefix: string
}

/** A poster image and its size. */
export type PosterFile = StoredFile & { width: number; height: number }

/** A file of a set of slides: the two images of a page, or the PDF that they were made from. */
export type SlidesFile = StoredFile &
  ({ kind: 'slide'; page: number; width: number; height: number } | { kind: 'thumbnail'; page: number } | { kind: 'document' })

/** Name of every list of files, below its work prefix. */
export const FILE_LIST = 'files.json'

/** Exit codes of a pod that encodes chunks of one job. The pod's Kubernetes Job reacts to them. */
export const CHUNK_EXIT = {
  /** Nothing is left to do: all chunks are encoded, or leased by others. */
  done: 0,
  /** Another pod may succeed. */
  retry: 1,
  /**
   * No pod can succeed: the job has ended, the source cannot be encoded, or the plan has changed.
   */
  obsolete: 42,
  /** The pod was stopped and released its chunk. The code is that of a process ended by SIGTERM. */
  stopped: 143,
} as const
