import { asObject, asText } from '../video/json-values.ts'

/** A problem document (RFC 9457) of the API. Missing values are empty. */
export interface Problem {
  code: string
  detail: string
  errors: { field: string; message: string }[]
}

/** Thrown if the server rejected a request, and a retry of the same request cannot succeed. */
export class RequestRejected extends Error {
  readonly status: number
  readonly problem: Problem
  constructor(status: number, problem: Problem) {
    super(problem.detail || `the server returned status ${status}`)
    this.name = 'RequestRejected'
    this.status = status
    this.problem = problem
  }
}

/** Returns true if the server does not have the requested record. */
export function isMissing(error: unknown): boolean {
  return error instanceof RequestRejected && error.status === 404
}

/** Thrown if a request failed for a temporary reason, so a retry can succeed. */
export class TemporaryFailure extends Error {
  /**
   * `unreachable`: there was no response. `busy`: the server sent a response and accepts the
   * request later.
   */
  readonly reason: 'unreachable' | 'busy'
  /**
   * Seconds to wait before the next request, from the header `Retry-After`. 0 if the response does
   * not have it.
   */
  readonly retryAfterSeconds: number
  constructor(reason: 'unreachable' | 'busy', retryAfterSeconds = 0) {
    super(reason === 'busy' ? 'the server is busy' : 'the server cannot be reached')
    this.name = 'TemporaryFailure'
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Thrown if the browser can no longer read the file. */
export class FileUnreadable extends Error {
  constructor() {
    super('the file cannot be read')
    this.name = 'FileUnreadable'
  }
}

/** Returns the error for the status, the body and the header `Retry-After` of a response. */
export function toRequestError(status: number, body: string, retryAfter: string | undefined): RequestRejected | TemporaryFailure {
  const problem = readProblem(body)
  // Statuses from 502 are often those of a proxy whose server is down.
  if (status >= 502) return new TemporaryFailure('unreachable', toSeconds(retryAfter))
  if (status >= 500 || TEMPORARY_STATUSES.has(status) || TEMPORARY_CODES.has(problem.code)) {
    return new TemporaryFailure('busy', toSeconds(retryAfter))
  }
  return new RequestRejected(status, problem)
}

const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 423, 425, 429])
/**
 * Codes of responses with the status 409 after which the client sends its next request with the
 * actual offset.
 */
const TEMPORARY_CODES: ReadonlySet<string> = new Set(['offset_mismatch'])

/**
 * Parses the body of a response. Any text that is not a problem document results in an empty
 * problem.
 */
export function readProblem(body: string): Problem {
  let problem: Record<string, unknown> = {}
  try {
    problem = asObject(JSON.parse(body))
  } catch {
    // A proxy may send a page instead of a problem document.
  }
  const errors = Array.isArray(problem['errors']) ? problem['errors'].map(asObject) : []
  return {
    code: asText(problem['code']),
    detail: asText(problem['detail']),
    errors: errors.map(({ field, message }) => ({ field: asText(field), message: asText(message) })),
  }
}

const MAX_RETRY_AFTER_SECONDS = 60

function toSeconds(retryAfter: string | undefined): number {
  return /^\d{1,9}$/.test(retryAfter ?? '') ? Math.min(Number(retryAfter), MAX_RETRY_AFTER_SECONDS) : 0
}
