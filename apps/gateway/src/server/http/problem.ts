import { STATUS_CODES } from 'node:http'
import { DomainError, type ErrorKind, type FieldError, isDomainError } from '@vitascope/errors'
import { RateLimited } from '@vitascope/rate-limit'
import type { RequestContext } from './request-context.ts'

/**
 * A problem document (RFC 9457) with a stable code and the request id. For invalid input it lists
 * every bad field.
 */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  request_id: string
  errors?: readonly FieldError[]
}

/** HTTP status for each kind of `DomainError`. */
const STATUS_OF_KIND: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  exists: 409,
  failed_precondition: 409,
  conflict: 409,
  exhausted: 429,
  unavailable: 503,
}

/** Reasons whose status differs from that of their kind. */
const STATUS_OF_REASON: Readonly<Record<string, number>> = {
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UPLOAD_TOO_LARGE: 413,
  TICKET_EXPIRED: 410,
  TICKET_USED: 410,
  UPLOAD_LOCKED: 423,
  CHECKSUM_MISMATCH: 460,
  RECORD_CHANGED: 412,
  TUS_VERSION_UNKNOWN: 412,
  CAPTION_TOO_LARGE: 413,
  QUOTA_BYTES: 413,
  QUOTA_MINUTES: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  FORMAT_UNSUPPORTED: 501,
}

/**
 * Reasons that concern the gateway's own principal. They are internal errors, not errors of the
 * caller's key.
 */
const INTERNAL_REASONS = new Set(['PRINCIPAL_MISSING', 'PRINCIPAL_INVALID', 'SERVICE_ONLY'])

/** Maximum number of field errors in a problem document. */
export const MAX_ERRORS = 100
/** Maximum length of a message, in characters. Our own messages are much shorter. */
const MAX_TEXT_LENGTH = 4_000

export interface ProblemResponse {
  problem: Problem
  headers: Record<string, string>
  /** True for an internal error, which is logged. */
  isInternal: boolean
}

/**
 * Returns the problem document for a thrown value. A `DomainError` keeps its reason, anything else
 * becomes `internal` without details.
 */
export function toProblem(error: unknown, context: RequestContext, publicUrl: string): ProblemResponse {
  const publicError = toPublicError(error)
  const code = publicError?.reason.toLowerCase() ?? 'internal'
  const status = publicError ? toHttpStatus(publicError) : 500
  const hide = withoutSecrets(context.secrets)
  const problem: Problem = {
    ...problemDocument(publicUrl, {
      status,
      code,
      detail: publicError ? hide(publicError.message) : 'internal error; its log entry has the request id',
      instance: context.instance(),
      requestId: context.requestId,
    }),
    ...(publicError &&
      publicError.fields.length > 0 && {
        errors: publicError.fields.slice(0, MAX_ERRORS).map(({ field, message }) => ({ field: hide(field), message: hide(message) })),
      }),
  }
  return { problem, headers: buildHeaders(publicError, status, context), isInternal: status === 500 }
}

/** Returns a problem document (RFC 9457) in the field order of the API. */
export function problemDocument(
  publicUrl: string,
  { status, code, detail, instance, requestId }: { status: number; code: string; detail: string; instance: string; requestId: string },
): Problem {
  const title = code === 'internal' ? (STATUS_CODES[500] ?? '') : formatTitle(code)
  return { type: `${publicUrl}/docs#${code}`, title, status, detail, instance, code, request_id: requestId }
}

export function toHttpStatus(error: DomainError): number {
  return STATUS_OF_REASON[error.reason] ?? STATUS_OF_KIND[error.kind]
}

/** Creates an error whose kind or reason has a status in the tables above. */
export function domainError(kind: ErrorKind, reason: string, message: string, retryAfter?: number): DomainError {
  return new DomainError(kind, reason, message, retryAfter === undefined ? {} : { retryAfter })
}

/** Returns undefined for internal errors. An aborted call becomes a retryable `unavailable`. */
function toPublicError(error: unknown): DomainError | undefined {
  if (isDomainError(error)) return INTERNAL_REASONS.has(error.reason) ? undefined : error
  if (error instanceof DOMException && error.name === 'AbortError') {
    return domainError('unavailable', 'SERVICE_UNAVAILABLE', 'a service closed the connection; try again', 1)
  }
  return undefined
}

function buildHeaders(error: DomainError | undefined, status: number, { isFromScript }: RequestContext): Record<string, string> {
  const retryAfter = error?.retryAfter ?? (status === 429 || status === 503 ? 1 : undefined)
  return {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(status === 401 && { 'WWW-Authenticate': isFromScript ? BEARER : BASIC }),
    ...(retryAfter !== undefined && { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(error instanceof RateLimited && error.headers),
  }
}

const BASIC = 'Basic realm="Vitascope", charset="UTF-8"'
/** A browser would show a login dialog for `Basic`, and the script would wait until the user closes it. */
const BEARER = 'Bearer realm="Vitascope"'

/** Returns the title of a code. Example: `video_not_found` becomes "Video not found". */
function formatTitle(code: string): string {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/**
 * Returns a function that replaces the secrets in a text. Services quote ids that they did not
 * find, so a key, token or password from the path could appear in a message.
 */
function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  // Shorter values are not replaced, because they would match parts of ordinary words.
  const longSecrets = [...new Set(secrets.filter((secret) => secret.length > 3))]
  const hide = (text: string) =>
    longSecrets.reduce((clean, secret) => (clean.includes(secret) ? clean.replaceAll(secret, '…') : clean), text)
  const maxSecretLength = Math.max(0, ...longSecrets.map(({ length }) => length))
  return (text) => {
    if (text.length <= MAX_TEXT_LENGTH) return hide(text)
    // The cut can leave a part of a secret at the end. That part is shorter than the longest
    // secret.
    const hidden = hide(text.slice(0, MAX_TEXT_LENGTH + maxSecretLength))
    return `${hidden.slice(0, Math.max(0, hidden.length - maxSecretLength))}…`
  }
}
