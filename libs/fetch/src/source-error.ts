/**
 * Fault of a source, as the status code of a video.
 *
 * - 4001: it cannot be downloaded: no response, an error status, too many redirects, an incomplete
 *   body, too slow
 * - 4003: it is too large
 * - 4004: its address is forbidden
 */
export type SourceErrorCode = 4001 | 4003 | 4004

/**
 * A fault of the source, or of the receiver of a POST. The message is a sentence for the caller. Of
 * the URL it contains only the host name.
 */
export class SourceError extends Error {
  readonly code: SourceErrorCode
  /** HTTP status of the response, if there was one. */
  readonly status: number | undefined
  /** True if a retry may succeed. */
  readonly transient: boolean

  constructor(code: SourceErrorCode, message: string, options: { status?: number; transient?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'SourceError'
    this.code = code
    this.status = options.status
    this.transient = options.transient ?? false
  }
}

export function isSourceError(error: unknown): error is SourceError {
  return error instanceof SourceError
}

export function noSuchHost(host: string, cause?: unknown): SourceError {
  return new SourceError(4001, `there is no host named ${host}`, { cause })
}

/**
 * Converts a network error to a `SourceError`. The text of the network error is not used, because
 * it contains addresses.
 */
export function networkFault(host: string, cause: unknown): SourceError {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOTFOUND' || code === 'ENODATA') return noSuchHost(host, cause)
  const certificate =
    code.startsWith('CERT_') || code.startsWith('ERR_TLS_') || code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_')
  if (certificate) return new SourceError(4001, `the certificate of ${host} is not valid`, { cause })
  if (code === 'ECONNREFUSED') return new SourceError(4001, `${host} refuses connections`, { cause, transient: true })
  return new SourceError(4001, `${host} could not be reached, or cut the connection`, { cause, transient: true })
}
