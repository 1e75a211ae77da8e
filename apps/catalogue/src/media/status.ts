/**
 * The status that a media's videos show. It moves by jobs alone:
 *
 *   accepted ──▶ waiting 0/1 ──▶ encoding 5…99/2 ──▶ ok 100/2000
 *        └──────────────────────────┘   └──▶ failed/4xxx or 5xxx, the progress as reached
 *
 * A replacement begins at encoding 5/2 again; where something plays already, its failure leads back to ok.
 */
export interface Status {
  state: 'waiting' | 'encoding' | 'ok' | 'failed'
  /** Percent. */
  progress: number
  code: number
  /** Why it failed, for people; else empty. */
  message: string
}

/** Too large or too long, also for what a quota leaves. */
export const TOO_LARGE = 4003
export const CANCELLED = 4005
/** A fault of ours that encoding did not name. */
export const OUR_FAULT = 5000
/** Encoding would not take the job, or lost it. */
export const NOT_TAKEN = 5001
/** Encoding ended the job, and its result never came. */
export const RESULT_LOST = 5002

export const accepted = (startsWaiting: boolean): Status =>
  startsWaiting ? { state: 'waiting', progress: 0, code: 1, message: '' } : { state: 'encoding', progress: 5, code: 2, message: '' }

export const playable = (): Status => ({ state: 'ok', progress: 100, code: 2000, message: '' })

export function progressed(status: Status, percent: number): Status {
  return { state: 'encoding', progress: Math.max(status.progress, workPercent(percent)), code: 2, message: '' }
}

/** What a job's failure or cancellation leaves. */
export function givenUp(status: Status, code: number, message: string, plays: boolean): Status {
  return plays ? playable() : { state: 'failed', progress: Math.min(status.progress, 99), code, message }
}

/** Whole, and within what work under way may show. */
export function workPercent(percent: number): number {
  return Math.min(99, Math.max(5, Math.floor(percent)))
}

/** 4001 to 4005 and 5000 to 5999 are codes; any other is a fault of ours. */
export function failureCode(code: number): number {
  return (code >= 4001 && code <= 4005) || (code >= 5000 && code <= 5999) ? code : OUR_FAULT
}
