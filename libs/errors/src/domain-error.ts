/**
 * What kind of refusal it is. `libs/grpc` turns each kind into one gRPC code, the gateway turns that into one HTTP status.
 *
 * - `invalid`: the caller's input is wrong (400)
 * - `unauthenticated`: no valid key or principal (401)
 * - `forbidden`: known, but not allowed (403)
 * - `not_found`: no such thing, or one of another organisation (404)
 * - `exists`: a thing with this unique value is already there (409)
 * - `refused`: the state of things does not allow it (409)
 * - `conflict`: another request holds it just now; trying again may work (409)
 * - `exhausted`: a limit or quota is reached (429)
 * - `unavailable`: a dependency is down or too slow; trying again may work (503)
 */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'exists'
  | 'refused'
  | 'conflict'
  | 'exhausted'
  | 'unavailable'

/** One bad field of a caller's input: its name as the caller wrote it, and what to do about it. */
export interface FieldError {
  field: string
  message: string
}

/**
 * A refusal: something the product answers on purpose. Everything else that is thrown is a fault of ours.
 * `reason` is stable, in capitals with underscores, and becomes the public `code` in lower case.
 * `message` is a sentence that the caller can act on; it never holds a secret, SQL, or a path of the server.
 */
export class DomainError extends Error {
  readonly kind: RefusalKind
  readonly reason: string
  readonly fields: readonly FieldError[]
  /** Seconds after which trying again makes sense; only for `exhausted`, `conflict` and `unavailable`. */
  readonly retryAfter: number | undefined

  constructor(
    kind: RefusalKind,
    reason: string,
    message: string,
    more: { fields?: readonly FieldError[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'DomainError'
    this.kind = kind
    this.reason = reason
    this.fields = more.fields ?? []
    this.retryAfter = more.retryAfter
  }
}

export function isDomainError(error: unknown): error is DomainError {
  return error instanceof DomainError
}

/** Fields that a sentence names; `fields` has them all. */
const MOST_NAMES = 10

/** Bad input, every bad field at once. */
export function invalid(fields: readonly FieldError[], reason = 'INVALID_INPUT'): DomainError {
  const named = fields.slice(0, MOST_NAMES).map(({ field }) => field)
  const more = fields.length > MOST_NAMES ? ` and ${fields.length - MOST_NAMES} more` : ''
  const message = fields.length === 1 ? `${named[0]}: ${fields[0]?.message}` : `bad fields: ${named.join(', ')}${more}`
  return new DomainError('invalid', reason, message, { fields })
}

/** `notFound('video', '12')`: reason `VIDEO_NOT_FOUND`. */
export function notFound(noun: string, id: string): DomainError {
  return new DomainError('not_found', `${noun.replaceAll(' ', '_').toUpperCase()}_NOT_FOUND`, `no ${noun} ${id}`)
}
