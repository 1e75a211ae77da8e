/**
 * Kind of an expected error. `libs/grpc` maps each kind to one gRPC code, and the gateway maps that to one HTTP
 * status.
 *
 * - `invalid`: the caller's input is invalid (400)
 * - `unauthenticated`: no valid key or principal (401)
 * - `forbidden`: authenticated, but not allowed (403)
 * - `not_found`: unknown, or owned by another organisation (404)
 * - `exists`: a record with this unique value already exists (409)
 * - `failed_precondition`: the current state does not allow it (409)
 * - `conflict`: another request is working on it; a retry may succeed (409)
 * - `exhausted`: a limit or quota is reached (429)
 * - `unavailable`: a dependency is down or too slow; a retry may succeed (503)
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'exists'
  | 'failed_precondition'
  | 'conflict'
  | 'exhausted'
  | 'unavailable'

/** An invalid field of a caller's input: its name as the caller wrote it, and how to correct it. */
export interface FieldError {
  field: string
  message: string
}

/**
 * An expected error that is returned to the caller. Any other thrown error is a fault of the platform. `reason` is
 * stable, in capitals with underscores, and becomes the public `code` in lower case. `message` is a sentence that the
 * caller can act on; it never contains a secret, SQL, or a server path.
 */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly reason: string
  readonly fields: readonly FieldError[]
  /** Seconds after which a retry makes sense; only for `exhausted`, `conflict` and `unavailable`. */
  readonly retryAfter: number | undefined

  constructor(
    kind: ErrorKind,
    reason: string,
    message: string,
    options: { fields?: readonly FieldError[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'DomainError'
    this.kind = kind
    this.reason = reason
    this.fields = options.fields ?? []
    this.retryAfter = options.retryAfter
  }
}

export function isDomainError(error: unknown): error is DomainError {
  return error instanceof DomainError
}

/** Maximum number of field names in the message; `fields` has all of them. */
const MAX_NAMES = 10

/** Returns an error for invalid input with all invalid fields. */
export function invalid(fields: readonly FieldError[], reason = 'INVALID_INPUT'): DomainError {
  const names = fields.slice(0, MAX_NAMES).map(({ field }) => field)
  const suffix = fields.length > MAX_NAMES ? ` and ${fields.length - MAX_NAMES} more` : ''
  const message = fields.length === 1 ? `${names[0]}: ${fields[0]?.message}` : `bad fields: ${names.join(', ')}${suffix}`
  return new DomainError('invalid', reason, message, { fields })
}

/** Throws `invalid` with all problems, if there are any. */
export function requireValid(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw invalid(problems)
}

/**
 * Returns a not_found error: `notFound('video', '12')` has the reason `VIDEO_NOT_FOUND`. The message has at most 100
 * characters of the id. It omits an id that PostgreSQL could not store.
 */
export function notFound(noun: string, id: string): DomainError {
  const shownId = id.isWellFormed() && !id.includes('\0') ? id.slice(0, 100).toWellFormed() : ''
  return new DomainError('not_found', `${noun.replaceAll(' ', '_').toUpperCase()}_NOT_FOUND`, `no ${noun} ${shownId}`.trimEnd())
}
