import type { EncodePlan, Rung, SourceProbe } from '@vitascope/media'
import type { PosterSet } from '@vitascope/proto/catalogue/v1/poster_set'
import type { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import type { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import { type Fault, isOfSource, isStorageFault } from '../task/fault.ts'
import type { StoredSource } from '../task/task.ts'

/** State of a job. The first five are active states. */
export type JobState = 'queued' | 'fetching' | 'probing' | 'encoding' | 'publishing' | 'ok' | 'failed' | 'cancelled'

export const ACTIVE_STATES: readonly JobState[] = ['queued', 'fetching', 'probing', 'encoding', 'publishing']

export function isActive(state: JobState): boolean {
  return ACTIVE_STATES.includes(state)
}

/**
 * Result of a job: the renditions of a media, the slides of a presentation, one additional
 * rendition of a media, or the poster images of a media, made from a picture or a frame.
 */
export type JobKind = 'renditions' | 'slides' | 'rendition' | 'poster'

/** A job as stored. */
export interface Job {
  jobId: string
  kind: JobKind
  /** The presentation id for a job that makes slides. */
  mediaId: string
  organisationId: string
  sourceUrl: string
  /** Maximum bytes of the results: the remaining quota. Undefined for no limit. */
  maxBytes: number | undefined
  /** Maximum duration of the source: the remaining encoding minutes. Undefined for no limit. */
  maxSeconds: number | undefined
  /** Tasks of the job wait while tasks of normal jobs wait. */
  lowPriority: boolean
  /** The plan may copy the video stream of the source, because no fault was found in it so far. */
  canCopyVideo: boolean
  /** Number of the current plan, from 1. */
  planNumber: number
  /** The rendition for a job of kind `rendition`. */
  rendition: Rung | undefined
  /** Time of the frame for a job of kind `poster`. Undefined if its source is a picture. */
  atSeconds: number | undefined
  state: JobState
  /** In percent. */
  progress: number
  /** Number of the attempt, 0 before the first. */
  attempt: number
  code: number
  message: string
  source: StoredSource | undefined
  /** The probe, the plan and the finished set. They are stored as JSON of these types. */
  probe: SourceProbe | undefined
  plan: EncodePlan | undefined
  result: FinishedSet | undefined
  createTime: Date
  startTime: Date | undefined
  finishTime: Date | undefined
}

/** Result of a job, as it is reported to the catalogue. */
export type FinishedSet = RenditionSet | SlideSet | PosterSet

/** Returns the plan of a job that is encoded. Throws if there is none. */
export function requirePlan({ jobId, plan }: Pick<Job, 'jobId' | 'plan'>): EncodePlan {
  if (plan === undefined) throw new Error(`job ${jobId} has no plan and cannot be encoded`)
  return plan
}

/** A new job. */
export interface NewJob {
  jobId: string
  kind: JobKind
  mediaId: string
  organisationId: string
  /** Empty if the source is already stored. */
  sourceUrl: string
  source?: StoredSource
  /** For kind `rendition`: the rendition, and the job whose set it is added to. */
  rendition?: Rung
  setJobId?: string
  /** For kind `poster`: the time of the frame. */
  atSeconds?: number
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  lowPriority?: boolean | undefined
}

export const MAX_ATTEMPTS = 3
/**
 * Maximum number of tries when the storage fails. The pauses start at ten times those of the
 * encoder and double, for ten minutes in all by default.
 */
export const MAX_STORAGE_TRIES = 6
export type AfterFault = { next: 'failed' } | { next: 'retry'; attempt: number; delayMs: number }

/**
 * Returns whether a job fails or is retried after a fault. A fault of the source ends the job, an
 * internal one ends the attempt. After a lost worker there is no pause, because the lease expiry
 * took long enough. A storage fault costs no attempt, because it affects all jobs and is usually
 * temporary. `storageFaults` is the number of earlier consecutive ones. If the next plan encodes
 * the video stream instead of copying it (`dropsCopy`), the fault costs no attempt either. This
 * happens once, because the next plan copies nothing.
 */
export function afterFault(
  job: { attempt: number; storageFaults: number; dropsCopy?: boolean },
  fault: Fault,
  retryMs: number,
): AfterFault {
  const attempt = Math.max(1, job.attempt)
  const jitter = 0.75 + Math.random() / 2
  const retry = (next: number, pauses: number): AfterFault => ({
    next: 'retry',
    attempt: next,
    delayMs: Math.round(retryMs * pauses * jitter),
  })
  if (isStorageFault(fault)) {
    return job.storageFaults + 1 >= MAX_STORAGE_TRIES ? { next: 'failed' } : retry(attempt, 10 * 2 ** job.storageFaults)
  }
  if (job.dropsCopy) return { next: 'retry', attempt, delayMs: 0 }
  if (isOfSource(fault.code) || job.attempt >= MAX_ATTEMPTS) return { next: 'failed' }
  return retry(attempt + 1, fault.code === 5001 ? 0 : 4 ** (attempt - 1))
}

/** Progress of a job at the start and at the end of each phase, in percent. */
const PROGRESS_RANGES = {
  fetch: [5, 10],
  probe: [10, 12],
  encode: [12, 95],
  package: [95, 99],
  slides: [5, 98],
  'fetch-poster': [5, 50],
  poster: [50, 98],
} as const

export type JobPhase = keyof typeof PROGRESS_RANGES

/** Returns the progress of a job in percent. `done` is the progress of the phase, 0 to 1. */
export function toJobPercent(phase: JobPhase, done: number): number {
  const [from, to] = PROGRESS_RANGES[phase]
  return Math.floor(from + (to - from) * Math.min(1, Math.max(0, done)))
}

/** Returns the queue key of all work of a job. */
export function toQueueKey(jobId: string): string {
  return `job:${jobId}`
}

export function toJobId(key: string): string {
  return key.slice('job:'.length)
}
