import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { sendCheckedRequest } from './checked-request.ts'
import { type BodyLimits, guardedBody, tooLarge } from './guarded-body.ts'
import type { SourcePolicy } from './policy.ts'
import { getContentLength } from './response-headers.ts'
import { SourceError } from './source-error.ts'

export interface GuardedRequest extends BodyLimits {
  policy: SourcePolicy
  /** Time limit in ms for the request, its redirects and the body. */
  timeoutMs: number
  /**
   * Requests the bytes from this position on, if the source still matches `ifRange` (an ETag or a
   * date).
   */
  from?: { start: number; ifRange: string }
  signal?: AbortSignal
}

export interface GuardedResponse {
  /** 200, or 206 for a partial response. */
  status: number
  headers: IncomingHttpHeaders
  /** Body of the response. The caller must read or destroy it. It can fail with a `SourceError`. */
  body: Readable
  /** URL after redirects. It may contain secrets of the caller, so it must not be logged. */
  finalUrl: string
}

const MAX_REDIRECTS = 5
const REDIRECT_STATUSES = [301, 302, 303, 307, 308]
// Statuses of temporary errors, after which a retry may succeed.
const TRANSIENT_STATUSES = [408, 425, 429, 500, 502, 503, 504]

/**
 * GETs a URL that a caller provided: http or https, at a public address or one that the policy
 * allows. Every redirect is checked too. Throws a `SourceError` for every fault of the source, and
 * the reason of the caller's signal if it aborts.
 */
export async function guardedGet(url: string, request: GuardedRequest): Promise<GuardedResponse> {
  const timeout = new AbortController()
  const onTimeout = () => timeout.abort(new SourceError(4001, `the source took longer than ${Math.ceil(request.timeoutMs / 1000)} s`))
  const timer = setTimeout(onTimeout, request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, timeout.signal]) : timeout.signal
  try {
    const { result, finalUrl } = await followRedirects(url, request, signal)
    const body = checkedBody(result, new URL(finalUrl).hostname, request, signal)
    body.once('close', () => clearTimeout(timer))
    return { status: result.statusCode ?? 0, headers: result.headers, body, finalUrl }
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

async function followRedirects(url: string, request: GuardedRequest, signal: AbortSignal) {
  let finalUrl = url
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const result = await sendCheckedRequest(finalUrl, { headers: buildHeaders(request) }, request.policy, signal)
    if (!REDIRECT_STATUSES.includes(result.statusCode ?? 0)) return { result, finalUrl }
    result.destroy()
    const { location } = result.headers
    if (location === undefined || !URL.canParse(location, finalUrl)) {
      throw new SourceError(4001, 'the source redirects without an address', { status: result.statusCode ?? 0 })
    }
    finalUrl = new URL(location, finalUrl).href
  }
  throw new SourceError(4001, `the source redirects more than ${MAX_REDIRECTS} times`)
}

/** Returns the request headers. They contain no cookie, authorisation or referrer. */
function buildHeaders({ from }: GuardedRequest): Record<string, string> {
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Vitascope' }
  return from ? { ...headers, range: `bytes=${from.start}-`, 'if-range': from.ifRange } : headers
}

/**
 * Returns the guarded body of a response whose status, encoding and announced size are accepted.
 * Throws otherwise.
 */
function checkedBody(result: IncomingMessage, host: string, request: GuardedRequest, signal: AbortSignal): Readable {
  try {
    const status = result.statusCode ?? 0
    if (status !== 200 && !(status === 206 && request.from)) {
      throw new SourceError(4001, `${host} responded with status ${status}`, { status, transient: TRANSIENT_STATUSES.includes(status) })
    }
    const encoding = result.headers['content-encoding'] ?? 'identity'
    // A compressed body could expand to terabytes.
    if (encoding.trim().toLowerCase() !== 'identity')
      throw new SourceError(4001, `${host} sends a compressed body, which was not requested`, { status })
    if ((getContentLength(result.headers) ?? 0) > request.maxBytes) throw tooLarge(request.maxBytes)
    return guardedBody(result, host, request, signal)
  } catch (error) {
    result.destroy()
    throw error
  }
}
