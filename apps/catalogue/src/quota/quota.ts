import { DomainError } from '@vitascope/errors'
import type { Quota } from '../organisation-replica/organisation.ts'

/**
 * The used quota of an organisation, and the amounts reserved by active uploads and jobs. Minutes
 * are those of one month, in milliseconds.
 */
export interface Usage {
  bytes: number
  reservedBytes: number
  ms: number
  reservedMs: number
  jobs: number
}

/**
 * Reservation and limits that are stored with a job when it is accepted. If a limit is undefined, there
 * is no limit. `bytes` is the growth that the job may use.
 */
export interface Reservation {
  bytes: number
  ms: number
  /** The quota at the time of acceptance. */
  quotaBytes?: number | undefined
  quotaMs?: number | undefined
  /** Maximum size and duration of the result: the remaining quota at the time of acceptance. */
  maxBytes?: number | undefined
  maxMs?: number | undefined
}

/** Work that is requested from the quota. */
export interface Work {
  /** Size of the result. 0 if it is not known in advance. */
  bytes: number
  /** Bytes that are released when the work is done: the size of the replaced set, with the renditions that were added to it. */
  releasedBytes: number
  /** Whether the work uses encoding minutes. */
  isEncoded: boolean
  /** The upload that becomes the source. Its reservation is released. */
  uploadId?: string | undefined
}

/**
 * Reservation for a job of unknown size. It is smaller than most results, so that a request is not
 * rejected while quota is left. The real size is checked when the set is published.
 */
export const ESTIMATE = { bytes: 8 * 1024 ** 2, ms: 60_000 } as const

export const MINUTE_MS = 60_000

/** Delay after which a client retries. Jobs take at least this time. */
const RETRY_AFTER_SECONDS = 10

/** The work for a source URL, whose size is unknown. */
export const URL_SOURCE_WORK: Work = { bytes: 0, releasedBytes: 0, isEncoded: true }

/** Returns the limits for encoding, so that a job that exceeds the quota ends early. */
export function toJobLimits({ maxBytes, maxMs }: Pick<Reservation, 'maxBytes' | 'maxMs'>) {
  return { maxBytes, maxSeconds: maxMs === undefined ? undefined : maxMs / 1_000 }
}

/**
 * Returns the reservation of a job: the estimate, or the remaining quota if it is smaller. Throws
 * TOO_MANY_JOBS, QUOTA_BYTES and QUOTA_MINUTES.
 */
export function planReservation(quota: Quota, usage: Usage, { bytes: knownBytes, releasedBytes, isEncoded }: Work): Reservation {
  const { concurrentJobs, bytes: quotaBytes, minutesPerMonth } = quota
  if (concurrentJobs !== undefined && usage.jobs >= concurrentJobs) {
    const message = `the organisation has ${usage.jobs} active jobs, and at most ${concurrentJobs} are allowed: try again when one has ended`
    throw new DomainError('exhausted', 'TOO_MANY_JOBS', message, { retryAfter: RETRY_AFTER_SECONDS })
  }
  const remainingBytes = quotaBytes === undefined ? Number.POSITIVE_INFINITY : quotaBytes - usage.bytes - usage.reservedBytes
  const maxBytes = quotaBytes === undefined ? undefined : remainingBytes + releasedBytes
  if (quotaBytes !== undefined && maxBytes !== undefined && maxBytes < Math.max(1, knownBytes)) {
    throw new DomainError('exhausted', 'QUOTA_BYTES', `${describeBytes(quotaBytes, usage)}; delete media, or request a higher quota`)
  }
  const quotaMs = minutesPerMonth === undefined || !isEncoded ? undefined : minutesPerMonth * MINUTE_MS
  const maxMs = quotaMs === undefined ? undefined : quotaMs - usage.ms - usage.reservedMs
  if (quotaMs !== undefined && maxMs !== undefined && maxMs < 1) {
    throw new DomainError(
      'exhausted',
      'QUOTA_MINUTES',
      `${describeMinutes(quotaMs, usage)}; wait for the next month, or request a higher quota`,
    )
  }
  return {
    bytes: Math.max(0, Math.min(Math.max(ESTIMATE.bytes, knownBytes) - releasedBytes, remainingBytes)),
    ms: isEncoded ? Math.min(ESTIMATE.ms, maxMs ?? Number.POSITIVE_INFINITY) : 0,
    ...{ quotaBytes, quotaMs, maxBytes, maxMs },
  }
}

/**
 * Throws QUOTA_BYTES if an upload of `bytes` exceeds the quota. `usage` must not include the
 * upload. An upload of unknown length has 0 bytes.
 */
export function requireUploadQuota({ bytes: quotaBytes }: Quota, usage: Usage, bytes: number): void {
  if (quotaBytes === undefined || usage.bytes + usage.reservedBytes + Math.max(1, bytes) <= quotaBytes) return
  const upload = bytes === 0 ? 'an upload' : `an upload of ${bytes} bytes`
  const sentence = `${upload} exceeds the quota: ${describeBytes(quotaBytes, usage)}; delete media, or request a higher quota`
  throw new DomainError('exhausted', 'QUOTA_BYTES', sentence)
}

/** Returns the upload id in a source URL of encoding, or undefined for any other source. */
export function parseUploadId(sourceUrl: string): string | undefined {
  return /^(?:tus|upload):\/\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/|$)/.exec(sourceUrl)?.[1]
}

/**
 * Returns why the result of a job exceeds the quota, or undefined. A job may use its reservation.
 * It may use more if this does not reduce the reservations of other jobs. `usage` must not include
 * the job.
 */
export function findOverrun(
  job: Reservation,
  current: Quota,
  usage: Usage,
  result: { bytes: number; releasedBytes: number; ms: number },
): string | undefined {
  const quotaBytes = maxLimit(job.quotaBytes, current.bytes)
  const growth = result.bytes - result.releasedBytes
  if (quotaBytes !== undefined && growth > job.bytes && usage.bytes + usage.reservedBytes + growth > quotaBytes) {
    return `this takes ${result.bytes} bytes, but ${describeBytes(quotaBytes, usage)}`
  }
  const quotaMs = maxLimit(job.quotaMs, current.minutesPerMonth === undefined ? undefined : current.minutesPerMonth * MINUTE_MS)
  if (quotaMs !== undefined && result.ms > job.ms && usage.ms + usage.reservedMs + result.ms > quotaMs) {
    return `this takes ${formatMinutes(result.ms)} minutes, but ${describeMinutes(quotaMs, usage)}`
  }
  return undefined
}

/** Returns the larger limit: a lowered quota applies to new work only. Undefined means no limit. */
function maxLimit(earlier: number | undefined, current: number | undefined): number | undefined {
  return earlier === undefined || current === undefined ? undefined : Math.max(earlier, current)
}

function describeBytes(quota: number, { bytes, reservedBytes }: Usage): string {
  return `of ${quota} bytes that the organisation may store, ${bytes} are used and ${reservedBytes} reserved for active uploads and jobs`
}

function describeMinutes(quotaMs: number, usage: Usage): string {
  const [used, reserved] = [formatMinutes(usage.ms), formatMinutes(usage.reservedMs)]
  return `of ${formatMinutes(quotaMs)} minutes that the organisation may encode a month, ${used} are used and ${reserved} reserved for active jobs`
}

/** Returns minutes with at most two decimals. */
function formatMinutes(ms: number): string {
  return String(Math.round((ms / MINUTE_MS) * 100) / 100)
}
