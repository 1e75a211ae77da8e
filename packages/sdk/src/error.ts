import type { ErrorCode } from './gen/contract.ts'

/**
 * Codes of errors that the client itself detects:
 *
 * - `invalid_argument`: an argument or option is missing or out of range. No request was sent.
 * - `network_error`: the platform cannot be reached. `timeout`: it did not respond in time.
 * - `not_vitascope`: the server at `url` is not a Vitascope platform, or a proxy answered instead of it.
 * - `outdated_server`: the platform is older than this client and does not have the operation.
 * - `redirected`: the server redirects to another address.
 * - `server_error`: a proxy or the platform failed without a problem document.
 * - `encoding_failed`: the video of `waitUntilReady` cannot be encoded. `wait_timeout`: it is not ready in time, or the
 *   job of `waitUntilEnded` has not ended.
 * - `source_changed`: the file of an upload became shorter, or a stream cannot repeat lost bytes.
 *   `source_failed`: it cannot be read.
 * - `webhook_invalid`: a request is not a signed event. `webhook_expired`: its time is outside the tolerance.
 */
export type ClientErrorCode =
  | 'invalid_argument'
  | 'network_error'
  | 'timeout'
  | 'not_vitascope'
  | 'outdated_server'
  | 'redirected'
  | 'server_error'
  | 'encoding_failed'
  | 'wait_timeout'
  | 'source_changed'
  | 'source_failed'
  | 'webhook_invalid'
  | 'webhook_expired'

/** An invalid field of a request. */
export interface FieldError {
  /** Name of the field, such as `url`. */
  field: string
  /** How to correct it. */
  message: string
}

export interface VitascopeErrorInit {
  code: VitascopeError['code']
  status?: number | undefined
  detail?: string | undefined
  fields?: readonly FieldError[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/**
 * The only class of errors of this package. An aborted call is the exception: it fails with the
 * reason of its signal. `message` is one sentence for people, and `code` is stable.
 */
export class VitascopeError extends Error {
  override readonly name = 'VitascopeError'
  /** `code` of the problem document, or a code of the client. Later versions of the platform may add codes. */
  readonly code: ErrorCode | ClientErrorCode | (string & {})
  /** HTTP status from 300 to 599. 0 if there was no response. */
  readonly status: number
  /** `detail` of the problem document: what is wrong. Otherwise the same as `message`. */
  readonly detail: string
  /** All invalid fields. Empty unless the input was invalid. */
  readonly fields: readonly FieldError[]
  /** Id of the request in the log of the platform. Undefined if there was no response. */
  readonly requestId: string | undefined
  /** Seconds after which a retry makes sense, if the response contains them. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    { code, status = 0, detail = message, fields = [], requestId, retryAfterSeconds, cause }: VitascopeErrorInit,
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.status = status
    this.detail = detail
    this.fields = fields
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Returns an error about an argument of the caller. */
export function invalidArgument(message: string): VitascopeError {
  return new VitascopeError(message, { code: 'invalid_argument' })
}
