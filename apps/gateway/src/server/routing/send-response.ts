import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { vary } from '../http/response.ts'
import { JsonText, Reply, type Streamed } from '../route/reply.ts'
import type { Route } from '../route/route.ts'
import { formatEtag } from './etag.ts'

/**
 * First path segments of routes whose responses may contain a secret. Caches must not store them.
 */
const SECRET_AREAS = new Set(['apikey', 'oauth', 'review', 'session', 'webhook'])

/** Length of a text from which it is converted to bytes once. */
const LARGE_TEXT = 8_192

/** A response of a handler as it is sent. It can be sent several times. */
export interface PreparedResponse {
  status: number
  headers: Readonly<Record<string, string>>
  /** A text, or its bytes if it is large. */
  body: string | Buffer
  contentLength: number
  /** Empty if it has none. */
  etag: string
}

/** Returns the response for the result of a handler. Successful reads have an ETag. */
export function prepareResponse(
  { method }: Pick<IncomingMessage, 'method'>,
  route: Route,
  result: unknown,
  guest: boolean,
): PreparedResponse {
  const reply = result instanceof Reply ? result : new Reply(result as object, { status: route.status })
  const text = typeof reply.body === 'string' ? reply.body : reply.body instanceof JsonText ? reply.body.text : JSON.stringify(reply.body)
  // Node sends a string together with the headers in one write. A large text would be converted to
  // bytes three times: for its length, its ETag and the socket.
  const body = text.length < LARGE_TEXT ? text : Buffer.from(text)
  const readOnly = (method === 'GET' || method === 'HEAD') && route.readOnly
  const isTagged = readOnly && reply.status === 200
  return {
    status: reply.status,
    headers: {
      'Content-Type': typeof reply.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
      'Cache-Control': cacheControl(route, readOnly, guest),
      ...reply.headers,
    },
    body,
    contentLength: Buffer.byteLength(body),
    etag: isTagged ? formatEtag(createHash('sha256').update(body).digest('base64url').slice(0, 27), reply.updateTime) : '',
  }
}

/** Sends a prepared response, or 304 if the client has it already. */
export function sendResponse(request: IncomingMessage, response: ServerResponse, prepared: PreparedResponse): void {
  const { status, headers, body, contentLength, etag } = prepared
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) {
    // The link to the next page is added to that of a deprecated path.
    if (name === 'Link') response.appendHeader(name, value)
    else response.setHeader(name, value)
  }
  vary(response, 'Authorization')
  if (etag !== '') {
    response.setHeader('ETag', etag)
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      response.removeHeader('Content-Type')
      response.statusCode = 304
      response.end()
      return
    }
  }
  response.setHeader('Content-Length', contentLength)
  if (request.method === 'HEAD') response.end()
  else response.end(body)
}

/**
 * Sends a response as a stream with backpressure. It awaits the first part before it sends the
 * headers, so that an error can still be a problem document.
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

/** Throws if a response does not match the schema of its route, which the API document shows. */
export function validateResponse(route: Route, result: unknown): void {
  const body = result instanceof Reply ? result.body : result
  if (typeof body === 'string') return
  const parsed = route.response.safeParse(body instanceof JsonText ? JSON.parse(body.text) : body)
  if (!parsed.success)
    throw new Error(`${route.verb} ${route.paths[0]} returned a response that does not match its schema: ${parsed.error.message}`)
}

/**
 * Responses to guests may be stored in shared caches with revalidation. Responses to a key may be
 * stored only by its holder.
 */
function cacheControl(route: Route, readOnly: boolean, guest: boolean): string {
  if (!readOnly || SECRET_AREAS.has(route.resource.split('::', 1)[0] ?? '')) return 'no-store'
  return guest ? 'public, max-age=0, must-revalidate' : 'private, no-cache'
}

/**
 * Returns true if `If-None-Match` matches. The comparison is weak: it ignores `W/`, which
 * intermediate caches may add.
 */
function matchesEtag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag)
}
