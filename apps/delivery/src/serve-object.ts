import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { type ObjectStorage, UnsatisfiableRange } from '@vitascope/storage'
import { parseRangeHeader } from './range-header.ts'

export const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl'
const TYPES: Record<string, string> = {
  m3u8: PLAYLIST_TYPE,
  mp4: 'video/mp4',
  m4a: 'audio/mp4',
  m4s: 'video/iso.segment',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  vtt: 'text/vtt; charset=utf-8',
  pdf: 'application/pdf',
}

export function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/** A year: the name changes when the bytes do. */
const FOR_ALL = 'public, max-age=31536000, immutable'
const FOR_ONE = 'private, max-age=60'

/** Streams an object with ranges and conditions (RFC 9110 13 and 14). One open file and one copy buffer a request. */
export async function serveObject(
  request: IncomingMessage,
  response: ServerResponse,
  { storage, name, open }: { storage: ObjectStorage; name: string; open: boolean },
  signal: AbortSignal,
): Promise<void> {
  const etag = `"${createHash('sha256').update(name).digest('base64url').slice(0, 22)}"`
  response.setHeader('ETag', etag)
  response.setHeader('Cache-Control', open ? FOR_ALL : FOR_ONE)
  response.setHeader('Accept-Ranges', 'bytes')
  response.setHeader('Content-Type', typeOf(name))
  if (matches(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end()
    return
  }
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRangeHeader(request.headers.range) : undefined
  try {
    const object = await storage.open(name, { ...(range && { range }), signal })
    response.setHeader('Last-Modified', object.modified.toUTCString())
    if (object.range) {
      const { start, end } = object.range
      response.writeHead(206, { 'Content-Range': `bytes ${start}-${end}/${object.bytes}`, 'Content-Length': end - start + 1 })
    } else response.writeHead(200, { 'Content-Length': object.bytes })
    if (request.method === 'HEAD') {
      object.stream.destroy()
      response.end()
    } else await pipeline(object.stream, response, { signal })
  } catch (error) {
    if (!(error instanceof UnsatisfiableRange)) throw error
    response.writeHead(416, { 'Content-Range': `bytes */${error.bytes}` }).end()
  }
}

/** `If-None-Match` compares weakly: `W/` in front of a tag does not count. */
export function matches(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
}
