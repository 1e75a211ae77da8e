import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { announcedBytes } from './answer-headers.ts'
import { checkedRequest } from './checked-request.ts'
import { type BodyLimits, guardedBody, tooLarge } from './guarded-body.ts'
import type { SourcePolicy } from './policy.ts'
import { SourceError } from './source-error.ts'

export interface GuardedRequest extends BodyLimits {
  policy: SourcePolicy
  /** For all of it, redirects and body included. */
  timeoutMs: number
  /** Asks for the rest from this byte on, if the source is still the one that `ifRange` (an ETag or a date) names. */
  from?: { start: number; ifRange: string }
  signal?: AbortSignal
}

export interface GuardedAnswer {
  /** 200, or 206 where the rest was asked for. */
  status: number
  headers: IncomingHttpHeaders
  /** Fails with a `SourceError`. Must be read or destroyed. */
  body: Readable
  /** After the redirects. It may hold secrets of the caller: not for logs. */
  finalUrl: string
}

const mostRedirects = 5
const redirects = [301, 302, 303, 307, 308]
// Statuses after which the same question may get another answer.
const passing = [408, 425, 429, 500, 502, 503, 504]

/**
 * GETs a URL that a caller named: http or https, at a public address (or one that the policy allows), checked on every redirect.
 * Everything that is wrong with the source is thrown as a `SourceError`; the caller's own signal as its reason.
 */
export async function guardedGet(url: string, request: GuardedRequest): Promise<GuardedAnswer> {
  const timeout = new AbortController()
  const late = () => timeout.abort(new SourceError(4001, `the source took longer than ${Math.ceil(request.timeoutMs / 1000)} seconds`))
  const timer = setTimeout(late, request.timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, timeout.signal]) : timeout.signal
  try {
    const { answer, finalUrl } = await followRedirects(url, request, signal)
    const body = takeBody(answer, new URL(finalUrl).hostname, request, signal)
    body.once('close', () => clearTimeout(timer))
    return { status: answer.statusCode ?? 0, headers: answer.headers, body, finalUrl }
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

async function followRedirects(url: string, request: GuardedRequest, signal: AbortSignal) {
  let finalUrl = url
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const answer = await checkedRequest(finalUrl, { headers: headersOf(request) }, request.policy, signal)
    if (!redirects.includes(answer.statusCode ?? 0)) return { answer, finalUrl }
    answer.destroy()
    const { location } = answer.headers
    if (location === undefined || !URL.canParse(location, finalUrl)) {
      throw new SourceError(4001, 'the source redirects to nowhere', { status: answer.statusCode ?? 0 })
    }
    finalUrl = new URL(location, finalUrl).href
  }
  throw new SourceError(4001, `the source redirects more than ${mostRedirects} times`)
}

/** Nothing of ours goes out with a request: no cookie, no authorisation, no referrer. */
function headersOf({ from }: GuardedRequest): Record<string, string> {
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Vitascope' }
  return from ? { ...headers, range: `bytes=${from.start}-`, 'if-range': from.ifRange } : headers
}

function takeBody(answer: IncomingMessage, host: string, request: GuardedRequest, signal: AbortSignal): Readable {
  try {
    const status = answer.statusCode ?? 0
    if (status !== 200 && !(status === 206 && request.from)) {
      throw new SourceError(4001, `${host} answered with status ${status}`, { status, transient: passing.includes(status) })
    }
    const encoding = answer.headers['content-encoding'] ?? 'identity'
    // A few compressed bytes may be terabytes.
    if (encoding.trim().toLowerCase() !== 'identity') throw new SourceError(4001, `${host} sends a compressed body unasked`, { status })
    if ((announcedBytes(answer.headers) ?? 0) > request.maxBytes) throw tooLarge(request.maxBytes)
    return guardedBody(answer, host, request, signal)
  } catch (error) {
    answer.destroy()
    throw error
  }
}
