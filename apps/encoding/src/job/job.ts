import type { Rung } from '@vitascope/media'

/** Where a job stands; the first five are under way. */
export type JobState = 'queued' | 'fetching' | 'probing' | 'encoding' | 'publishing' | 'ok' | 'failed' | 'cancelled'

export const UNDER_WAY: readonly JobState[] = ['queued', 'fetching', 'probing', 'encoding', 'publishing']

export function isUnderWay(state: JobState): boolean {
  return UNDER_WAY.includes(state)
}

/** What was fetched, or lay there. */
export interface StoredSource {
  object: string
  bytes: number
  /** Empty where it is not known. */
  sha256: string
}

/** What a job makes: the renditions of a media, the slides of a presentation, or one rendition beside those of a media. */
export type JobKind = 'renditions' | 'slides' | 'rendition'

/** A job as stored. */
export interface Job {
  jobId: string
  kind: JobKind
  /** Of a job that makes slides the presentation. */
  mediaId: string
  organisationId: string
  sourceUrl: string
  /** What the owner's quota leaves for what is made of the source; undefined for any. */
  maxBytes: number | undefined
  maxSeconds: number | undefined
  /** Nothing is begun for it while work of jobs that do not give way waits. */
  givesWay: boolean
  /** Its plan may copy the picture of the source, which was not yet seen to be faulty. */
  copies: boolean
  /** Which of its plans it has, from 1. */
  planNumber: number
  /** What a job of the kind `rendition` makes. */
  rendition: Rung | undefined
  state: JobState
  progress: number
  /** Which try it is; 0 before the first. */
  attempt: number
  code: number
  message: string
  source: StoredSource | undefined
  /** JSON of their makers: the probe, the plan, and the published set. */
  probe: unknown
  plan: unknown
  result: unknown
  createTime: Date
  startTime: Date | undefined
  finishTime: Date | undefined
}

/** A job as it comes. */
export interface NewJob {
  jobId: string
  kind: JobKind
  mediaId: string
  organisationId: string
  /** Empty where the source lies in storage already. */
  sourceUrl: string
  source?: StoredSource
  /** Of the kind `rendition`: what it is, and the job whose set it is added to. */
  rendition?: Rung
  setJobId?: string
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  givesWay?: boolean | undefined
}

/**
 * Why an attempt ended without a result.
 *
 * The source's own faults, never tried again: 4001 unreachable, 4002 not a video, 4003 too large or too long, 4004 forbidden address,
 * 4005 cancelled. Ours: 5000 anything unforeseen, 5001 the worker was lost, 5002 the encoder crashed or hung, 5003 the result was not
 * what was planned, 5004 the storage failed, 5005 the plan is for another build of the encoder, 5006 the encoder for this codec is missing,
 * 5007 the picture, which was to be copied, cannot be decoded without a complaint: it is encoded instead.
 */
export interface Fault {
  code: number
  /** For people; no secret, no path. */
  message: string
}

export const MOST_ATTEMPTS = 3
/** Of a storage that fails: with pauses that double from ten times that of an encoder, ten minutes by default. */
export const MOST_STORAGE_TRIES = 6
const STORAGE_FAILED = 5004
const UNCLEAN_COPY = 5007

export type AfterFault = { next: 'failed' } | { next: 'again'; attempt: number; delayMs: number }

/**
 * A fault of the source ends the job, one of ours the attempt. A worker that was lost has cost time enough, so nothing waits for it. A storage
 * that failed costs no attempt: it is there for all jobs, and mostly comes back; `storageFaults` are those before, in a row. Neither does a
 * picture that cannot be copied, once: from then on nothing of the job is.
 */
export function afterFault(job: { attempt: number; storageFaults: number; copies?: boolean }, fault: Fault, retryMs: number): AfterFault {
  const attempt = Math.max(1, job.attempt)
  const jitter = 0.75 + Math.random() / 2
  const again = (next: number, pauses: number): AfterFault => ({
    next: 'again',
    attempt: next,
    delayMs: Math.round(retryMs * pauses * jitter),
  })
  if (isStorageFault(fault)) {
    return job.storageFaults + 1 >= MOST_STORAGE_TRIES ? { next: 'failed' } : again(attempt, 10 * 2 ** job.storageFaults)
  }
  if (fault.code === UNCLEAN_COPY && job.copies) return { next: 'again', attempt, delayMs: 0 }
  if (isOfSource(fault.code) || job.attempt >= MOST_ATTEMPTS) return { next: 'failed' }
  return again(attempt + 1, fault.code === 5001 ? 0 : 4 ** (attempt - 1))
}

export function isStorageFault({ code }: Fault): boolean {
  return code === STORAGE_FAILED
}

export function isOfSource(code: number): boolean {
  return code >= 4001 && code <= 4005
}

/** How much of a job is done when a part of it is, in percent: where the part begins, and where the next one does. */
const SHARES = { fetch: [5, 10], probe: [10, 12], encode: [12, 95], package: [95, 99], slides: [5, 98] } as const

export type Part = keyof typeof SHARES

/** `done` of a part is 0 to 1. */
export function percentOf(part: Part, done: number): number {
  const [from, to] = SHARES[part]
  return Math.floor(from + (to - from) * Math.min(1, Math.max(0, done)))
}

/** The queue's key of all work for a job. */
export function keyOfJob(jobId: string): string {
  return `job:${jobId}`
}

export function jobOfKey(key: string): string {
  return key.slice('job:'.length)
}

/** Ids are chosen by catalogue: whole numbers that fit a bigint. */
export function isJobId(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}
