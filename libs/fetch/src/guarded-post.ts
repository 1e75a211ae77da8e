import type { IncomingMessage } from 'node:http'
import { sendCheckedRequest } from './checked-request.ts'
import type { SourcePolicy } from './policy.ts'
import { SourceError } from './source-error.ts'

export interface GuardedPost {
  policy: SourcePolicy
  headers: Readonly<Record<string, string>>
  body: string
  /**
   * Time limit in ms for the request and its response. After the status, it ends the response body
   * without an error.
   */
  timeoutMs: number
  signal?: AbortSignal
}

/**
 * A response body up to this size is read completely, so that the receiver can send it without an
 * error.
 */
const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * POSTs a small body to a URL that a caller provided: http or https, at a public address or one
 * that the policy allows. Redirects are not followed and the response body is ignored. Returns any
 * status. Throws a `SourceError` if the address is forbidden or there is no response, and the
 * reason of the caller's signal if it aborts before that.
 */
export async function guardedPost(url: string, { policy, headers, body, timeoutMs, signal }: GuardedPost): Promise<{ status: number }> {
  const timeout = new AbortController()
  const onTimeout = () => timeout.abort(new SourceError(4001, `there was no response within ${Math.ceil(timeoutMs / 1000)} s`))
  const timer = setTimeout(onTimeout, timeoutMs)
  const anySignal = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
  try {
    const content = { headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Vitascope', ...headers }, body }
    const result = await sendCheckedRequest(url, content, policy, anySignal)
    await ignoreBody(result)
    return { status: result.statusCode ?? 0 }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Reads the body until it ends, exceeds the limit, or is aborted. It never throws, because the
 * status is already known.
 */
function ignoreBody(result: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    result.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) result.destroy()
    })
    result.on('error', () => {})
    result.once('close', resolve)
  })
}
