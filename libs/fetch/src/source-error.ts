/**
 * What is wrong with a source, as the status codes of a video tell it.
 *
 * - 4001: it cannot be had: no answer, a refusal, too many redirects, a body cut short, too slow
 * - 4003: it is too large
 * - 4004: its address is forbidden
 */
export type SourceErrorCode = 4001 | 4003 | 4004

/** The fault of a source. The message is a sentence for the caller; it never has more of the URL than the host's name. */
export class SourceError extends Error {
  readonly code: SourceErrorCode
  /** The HTTP status of the answer, where there was one. */
  readonly status: number | undefined
  /** True where trying again soon may help. */
  readonly transient: boolean

  constructor(code: SourceErrorCode, message: string, more: { status?: number; transient?: boolean; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'SourceError'
    this.code = code
    this.status = more.status
    this.transient = more.transient ?? false
  }
}

export function isSourceError(error: unknown): error is SourceError {
  return error instanceof SourceError
}

/** A fault of the network underneath, told without its words: they name addresses. */
export function networkFault(host: string, cause: unknown): SourceError {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOTFOUND' || code === 'ENODATA') return new SourceError(4001, `there is no host named ${host}`, { cause })
  const certificate =
    code.startsWith('CERT_') || code.startsWith('ERR_TLS_') || code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_')
  if (certificate) return new SourceError(4001, `the certificate of ${host} is not valid`, { cause })
  if (code === 'ECONNREFUSED') return new SourceError(4001, `${host} refuses connections`, { cause, transient: true })
  return new SourceError(4001, `${host} could not be reached, or cut the connection`, { cause, transient: true })
}
