import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { etagMatches } from './serve-object.ts'

/** Sends a text that can change under the same URL. Caches must revalidate each time, and mostly receive 304. */
export function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { type, open }: { type: string; open: boolean },
): void {
  response.setHeader('Cache-Control', `${open ? 'public' : 'private'}, max-age=0, must-revalidate`)
  response.setHeader('Content-Type', type)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  response.setHeader('ETag', etag)
  if (etagMatches(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end()
    return
  }
  response.writeHead(200, { 'Content-Length': body.length })
  if (request.method === 'HEAD') response.end()
  else response.end(body)
}
