import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { vary } from '../http/vary.ts'
import type { Streamed } from '../route.ts'

/**
 * Sends an answer as it comes, no faster than it is taken. Its first part is awaited before anything is said, so that a refusal is still a
 * problem document.
 */
export async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  { parts, headers }: Streamed,
  signal: AbortSignal,
): Promise<void> {
  const reader = parts[Symbol.asyncIterator]()
  try {
    let part = await reader.next()
    response.setHeader('Cache-Control', 'no-store')
    vary(response, 'Authorization')
    response.setHeaders(new Map(Object.entries(headers)))
    if (request.method !== 'HEAD') {
      for (; !part.done; part = await reader.next()) if (!response.write(part.value)) await once(response, 'drain', { signal })
    }
    response.end()
  } finally {
    await reader.return?.()
  }
}
