import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { vary } from '../http/vary.ts'
import { Reply, type Route } from '../route.ts'

/** Areas whose answers may hold a secret: they are stored nowhere on the way. */
const SECRET_AREAS = new Set(['apikey', 'oauth', 'webhook'])

/** Sends what a handler answered, with ETag and 304 where the answer is a record that was read. */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, route: Route, answered: unknown, guest: boolean): void {
  const reply = answered instanceof Reply ? answered : new Reply(answered as object, { status: route.status })
  const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
  const readOnly = (request.method === 'GET' || request.method === 'HEAD') && route.safe
  response.statusCode = reply.status
  response.setHeader('Content-Type', typeof reply.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
  response.setHeader('Cache-Control', cacheControl(route, readOnly, guest))
  vary(response, 'Authorization')
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
  if (readOnly && reply.status === 200) {
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    response.setHeader('ETag', tag)
    if (isKnown(request.headers['if-none-match'], tag)) {
      response.removeHeader('Content-Type')
      response.statusCode = 304
      response.end()
      return
    }
  }
  response.setHeader('Content-Length', Buffer.byteLength(body))
  // A text goes out in one piece with the headers.
  if (request.method === 'HEAD') response.end()
  else response.end(body)
}

/** Throws when an answer is not what its route says, and so what the API document shows. */
export function checkAnswer(route: Route, answered: unknown): void {
  const body = answered instanceof Reply ? answered.body : answered
  if (typeof body === 'string') return
  const result = route.answer.safeParse(body)
  if (!result.success) throw new Error(`${route.verb} ${route.paths[0]} answers something else than it says: ${result.error.message}`)
}

/** What guests see may be kept by anybody, if asked for again each time; what a key shows by its holder alone. */
function cacheControl(route: Route, readOnly: boolean, guest: boolean): string {
  if (!readOnly || SECRET_AREAS.has(route.resource.split('::', 1)[0] ?? '')) return 'no-store'
  return guest ? 'public, max-age=0, must-revalidate' : 'private, no-cache'
}

/** `If-None-Match` compares weakly: `W/` in front of a tag, which caches on the way may add, does not count. */
function isKnown(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag)
}
