import type { IncomingMessage } from 'node:http'
import { sendCheckedRequest } from './checked-request.ts'
import type { SourcePolicy } from './policy.ts'
import { SourceError } from './source-error.ts'

export interface GuardedPost {
  policy: SourcePolicy
  headers: Readonly<Record<string, string>>
  body: string
  /** Time limit for the request and its response. */
  timeoutMs: number
  signal?: AbortSignal
}

/** Maximum bytes of the response body that are read, so that the receiver is not cut off while it sends. */
const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * POSTs a small body to a URL that a caller provided: http or https, at a public address or one that the policy
 * allows. Redirects are not followed and the response body is ignored. Returns any status. Throws a `SourceError` if
 * there is no response, and the reason of the caller's signal.
 */
export async function guardedPost(url: string, { policy, headers, body, timeoutMs, signal }: GuardedPost): Promise<{ status: number }> {
  const timeout = new AbortController()
  const onTimeout = () => timeout.abort(new SourceError(4001, `there was no response within ${Math.ceil(timeoutMs / 1000)} seconds`))
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

/** Reads the body until it ends, exceeds the limit, or the connection ends. The status is already known. */
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
