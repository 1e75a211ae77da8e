import { STATUS_CODES } from 'node:http'
import { DomainError, type FieldError, isDomainError, type RefusalKind } from '@vitascope/errors'
import { RateLimited } from '../limits/limiter.ts'
import type { Exchange } from './exchange.ts'

/** RFC 9457, with a stable code, the request's id, and for bad input every bad field. */
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

/** The one table between refusals and statuses. */
const STATUS_OF_KIND: Record<RefusalKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  exists: 409,
  refused: 409,
  conflict: 409,
  exhausted: 429,
  unavailable: 503,
}

/** Reasons with a status of their own. */
const STATUS_OF_REASON: Readonly<Record<string, number>> = {
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UPLOAD_TOO_LARGE: 413,
  UPLOAD_LOCKED: 423,
  CHECKSUM_MISMATCH: 460,
  TUS_VERSION_UNKNOWN: 412,
  CAPTION_TOO_LARGE: 413,
  QUOTA_BYTES: 413,
  QUOTA_MINUTES: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
}

/** What services say of the gateway's own principal is no fault of the caller's key. */
const OUR_FAULT = new Set(['PRINCIPAL_MISSING', 'PRINCIPAL_INVALID', 'SERVICE_ONLY'])

/** More bad fields than this help nobody. */
export const MOST_ERRORS = 100
/** Characters of a sentence: those of ours are shorter by far. */
const MOST_TEXT = 4_000

export interface ProblemAnswer {
  problem: Problem
  headers: Record<string, string>
  /** True when it is our own fault, to be logged. */
  fault: boolean
}

/** What the caller is told of anything thrown: a refusal with its reason, all else as `internal` without a word. */
export function problemOf(error: unknown, exchange: Exchange, publicUrl: string): ProblemAnswer {
  const refusal = asRefusal(error)
  const code = refusal?.reason.toLowerCase() ?? 'internal'
  const status = refusal ? statusOf(refusal) : 500
  const hide = withoutSecrets(exchange.secrets)
  const problem: Problem = {
    type: `${publicUrl}/docs#${code}`,
    title: refusal ? titleOf(code) : (STATUS_CODES[500] ?? ''),
    status,
    detail: refusal ? hide(refusal.message) : 'something went wrong on our side; the request id leads to it in the log',
    instance: exchange.instance(),
    code,
    request_id: exchange.requestId,
    ...(refusal &&
      refusal.fields.length > 0 && {
        errors: refusal.fields.slice(0, MOST_ERRORS).map(({ field, message }) => ({ field: hide(field), message: hide(message) })),
      }),
  }
  return { problem, headers: headersOf(refusal, status), fault: status === 500 }
}

export function statusOf(refusal: DomainError): number {
  return STATUS_OF_REASON[refusal.reason] ?? STATUS_OF_KIND[refusal.kind]
}

/** A refusal by a name that the table of statuses knows. */
export function refusal(kind: RefusalKind, reason: string, message: string, retryAfter?: number): DomainError {
  return new DomainError(kind, reason, message, retryAfter === undefined ? {} : { retryAfter })
}

/** Undefined for faults of ours. A call that was broken off while the caller still waits can be tried again. */
function asRefusal(error: unknown): DomainError | undefined {
  if (isDomainError(error)) return OUR_FAULT.has(error.reason) ? undefined : error
  if (error instanceof DOMException && error.name === 'AbortError') {
    return refusal('unavailable', 'SERVICE_UNAVAILABLE', 'a service broke the call off: try again', 1)
  }
  return undefined
}

function headersOf(refused: DomainError | undefined, status: number): Record<string, string> {
  const retryAfter = refused?.retryAfter ?? (status === 429 || status === 503 ? 1 : undefined)
  return {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(status === 401 && { 'WWW-Authenticate': 'Basic realm="Vitascope", charset="UTF-8"' }),
    ...(retryAfter !== undefined && { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(refused instanceof RateLimited && refused.headers),
  }
}

/** `video_not_found`: "Video not found". */
export function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Services name what they did not find; a key, token or password that stood in the path is never told back. */
function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  // Three characters are in any sentence.
  const kept = [...new Set(secrets.filter((secret) => secret.length > 3))]
  const hide = (shown: string) => kept.reduce((clean, secret) => (clean.includes(secret) ? clean.replaceAll(secret, '…') : clean), shown)
  const longest = Math.max(0, ...kept.map(({ length }) => length))
  return (text) => {
    if (text.length <= MOST_TEXT) return hide(text)
    // Where the text is cut, a part of a secret may remain: it is shorter than the longest of them.
    const hidden = hide(text.slice(0, MOST_TEXT + longest))
    return `${hidden.slice(0, Math.max(0, hidden.length - longest))}…`
  }
}
