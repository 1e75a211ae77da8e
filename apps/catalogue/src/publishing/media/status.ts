/**
 * The status of a media. It is also the status of the videos of the media. Only jobs change it:
 *
 *   accepted ──▶ waiting 0/1 ──▶ encoding 5…99/2 ──▶ ok 100/2000
 *        └──────────────────────────┘   └──▶ failed/4xxx or 5xxx, with the progress reached
 *
 * A replacement starts at encoding 5/2 again. If it fails and the media has a set, the status
 * returns to ok.
 */
export interface Status {
  state: 'waiting' | 'encoding' | 'ok' | 'failed'
  /** Percent. */
  progress: number
  code: number
  /** The reason of a failure as text, otherwise empty. */
  message: string
}

/** The source exceeds the maximum size or duration, or the remaining quota. */
export const TOO_LARGE = 4003
export const CANCELLED = 4005
/** An internal error for which encoding reported no known code. */
export const INTERNAL_ERROR = 5000
/** Encoding rejected the job or lost it. */
export const JOB_REJECTED = 5001
/** Encoding ended the job, but its result was never reported. */
export const RESULT_LOST = 5002

export const createAcceptedStatus = (startsWaiting: boolean): Status =>
  startsWaiting ? { state: 'waiting', progress: 0, code: 1, message: '' } : { state: 'encoding', progress: 5, code: 2, message: '' }

export const createPlayableStatus = (): Status => ({ state: 'ok', progress: 100, code: 2000, message: '' })

export function createProgressStatus(status: Status, percent: number): Status {
  return { state: 'encoding', progress: Math.max(status.progress, clampPercent(percent)), code: 2, message: '' }
}

/** Returns the status after a job failed or was cancelled. */
export function createFailedStatus(status: Status, code: number, message: string, isPlayable: boolean): Status {
  return isPlayable ? createPlayableStatus() : { state: 'failed', progress: Math.min(status.progress, 99), code, message }
}

/** Returns a whole percentage within the range of active work, 5 to 99. */
export function clampPercent(percent: number): number {
  return Math.min(99, Math.max(5, Math.floor(percent)))
}

/** Returns the code if it is from 4001 to 4005 or from 5000 to 5999, otherwise `INTERNAL_ERROR`. */
export function toFailureCode(code: number): number {
  return (code >= 4001 && code <= 4005) || (code >= 5000 && code <= 5999) ? code : INTERNAL_ERROR
}
