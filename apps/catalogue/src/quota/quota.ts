import { DomainError } from '@vitascope/errors'
import type { Quota } from '../organisation-mirror/organisation.ts'

/** What an organisation uses, and what its jobs under way have set aside. Minutes are those of one month, in milliseconds. */
export interface Usage {
  bytes: number
  reservedBytes: number
  ms: number
  reservedMs: number
  jobs: number
}

/** What a job is accepted with; all of it stands in the job until it ends. An absent limit is none. `bytes` is what it may grow by. */
export interface Reservation {
  bytes: number
  ms: number
  /** The quota at that moment. */
  quotaBytes?: number | undefined
  quotaMs?: number | undefined
  /** What it may come to, as far as was left then. */
  maxBytes?: number | undefined
  maxMs?: number | undefined
}

/** What somebody asks to be done. */
export interface Work {
  /** Known beforehand; 0 when not. */
  bytes: number
  /** What goes once it is done: the set that is replaced. */
  givenBack: number
  /** Whether it takes minutes. */
  isEncoded: boolean
}

/**
 * What is set aside for a job of which nothing is known: less than most come to, so that a quota is not refused while there is room. What it
 * really comes to is judged when its set is there.
 */
export const ESTIMATE = { bytes: 8 * 1024 ** 2, ms: 60_000 } as const

export const MINUTE_MS = 60_000

/** Seconds; jobs take that long at least. */
const TRY_AGAIN = 10

/** What is known of a source that lies at an address. */
export const UNKNOWN_SOURCE: Work = { bytes: 0, givenBack: 0, isEncoded: true }

/** What encoding is told of a quota, so that work for which there is no room ends early. */
export function workLimits({ maxBytes, maxMs }: Pick<Reservation, 'maxBytes' | 'maxMs'>) {
  return { maxBytes, maxSeconds: maxMs === undefined ? undefined : maxMs / 1_000 }
}

/** What a job may set aside: the estimate, or as much of it as is left. Refuses with TOO_MANY_JOBS, QUOTA_BYTES and QUOTA_MINUTES. */
export function admit(quota: Quota, usage: Usage, { bytes: known, givenBack, isEncoded }: Work): Reservation {
  const { concurrentJobs, bytes: quotaBytes, minutesPerMonth } = quota
  if (concurrentJobs !== undefined && usage.jobs >= concurrentJobs) {
    const message = `the organisation has ${usage.jobs} jobs under way, and ${concurrentJobs} are allowed at once: try again when one has ended`
    throw new DomainError('exhausted', 'TOO_MANY_JOBS', message, { retryAfter: TRY_AGAIN })
  }
  const left = quotaBytes === undefined ? Number.POSITIVE_INFINITY : quotaBytes - usage.bytes - usage.reservedBytes
  const maxBytes = quotaBytes === undefined ? undefined : left + givenBack
  if (quotaBytes !== undefined && maxBytes !== undefined && maxBytes < Math.max(1, known)) {
    throw new DomainError('exhausted', 'QUOTA_BYTES', `${bytesInWords(quotaBytes, usage)}: delete media, or have the quota raised`)
  }
  const quotaMs = minutesPerMonth === undefined || !isEncoded ? undefined : minutesPerMonth * MINUTE_MS
  const maxMs = quotaMs === undefined ? undefined : quotaMs - usage.ms - usage.reservedMs
  if (quotaMs !== undefined && maxMs !== undefined && maxMs < 1) {
    throw new DomainError(
      'exhausted',
      'QUOTA_MINUTES',
      `${minutesInWords(quotaMs, usage)}: wait for the next month, or have the quota raised`,
    )
  }
  return {
    bytes: Math.max(0, Math.min(Math.max(ESTIMATE.bytes, known) - givenBack, left)),
    ms: isEncoded ? Math.min(ESTIMATE.ms, maxMs ?? Number.POSITIVE_INFINITY) : 0,
    ...{ quotaBytes, quotaMs, maxBytes, maxMs },
  }
}

/**
 * Why what a job has made must not be kept: a sentence, or undefined. What the job had set aside it may use; more only where it takes
 * nothing of what others have set aside. `usage` is without the job.
 */
export function overrun(
  job: Reservation,
  now: Quota,
  usage: Usage,
  made: { bytes: number; givenBack: number; ms: number },
): string | undefined {
  const quotaBytes = larger(job.quotaBytes, now.bytes)
  const grows = made.bytes - made.givenBack
  if (quotaBytes !== undefined && grows > job.bytes && usage.bytes + usage.reservedBytes + grows > quotaBytes) {
    return `this takes ${made.bytes} bytes, but ${bytesInWords(quotaBytes, usage)}`
  }
  const quotaMs = larger(job.quotaMs, now.minutesPerMonth === undefined ? undefined : now.minutesPerMonth * MINUTE_MS)
  if (quotaMs !== undefined && made.ms > job.ms && usage.ms + usage.reservedMs + made.ms > quotaMs) {
    return `this takes ${minutes(made.ms)} minutes, but ${minutesInWords(quotaMs, usage)}`
  }
  return undefined
}

/** A quota that was lowered counts for new work, one that was raised at once; absent is without end. */
function larger(then: number | undefined, now: number | undefined): number | undefined {
  return then === undefined || now === undefined ? undefined : Math.max(then, now)
}

function bytesInWords(quota: number, { bytes, reservedBytes }: Usage): string {
  return `of ${quota} bytes that the organisation may store, ${bytes} are used and ${reservedBytes} reserved for jobs under way`
}

function minutesInWords(quotaMs: number, usage: Usage): string {
  const [used, reserved] = [minutes(usage.ms), minutes(usage.reservedMs)]
  return `of ${minutes(quotaMs)} minutes that the organisation may encode a month, ${used} are used and ${reserved} reserved for jobs under way`
}

/** At most two decimals. */
function minutes(ms: number): string {
  return String(Math.round((ms / MINUTE_MS) * 100) / 100)
}
