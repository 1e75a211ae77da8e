import type { IncomingMessage, ServerResponse } from 'node:http'
import { markResponseStarted } from '@vitascope/rate-limit'
import { UnsatisfiableRange } from '@vitascope/storage'
import type { ObjectReader } from '../object/send-object.ts'
import { shortHash } from '../short-hash.ts'
import { markFirstByte } from './first-byte.ts'
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

/** Returns the media type for the extension of a file name. */
export function getContentType(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/**
 * Headers for files that the player does not render. Browsers download such a file and never run its
 * scripts with the platform's origin.
 */
const DOCUMENT_HEADERS = { 'Content-Security-Policy': "sandbox; default-src 'none'", 'Content-Disposition': 'attachment' }

/** Returns additional headers for a file; none for images, audio, video, playlists and captions. */
export function protectiveHeaders(name: string): Partial<typeof DOCUMENT_HEADERS> {
  const type = getContentType(name)
  return /^(video|audio|image)\/|^text\/vtt/.test(type) || type === PLAYLIST_TYPE ? {} : DOCUMENT_HEADERS
}

/** Caches may keep a file for a year: its name is unique, and its bytes never change. */
const YEAR_SECONDS = 31_536_000
const PRIVATE_CACHE_CONTROL = 'private, max-age=60'

/** How long caches may keep a file, and the tags by which a CDN can remove it. */
export interface Caching {
  /** False if only the viewer's own cache may keep the file. */
  isPublic: boolean
  /** Time at which the video expires. */
  expires: Date | undefined
  /** Tags such as `video-12,version-ab`. */
  tags: string
}

/** Returns the headers for caches. */
export function cachingHeaders({ isPublic, expires, tags }: Caching): Record<string, string> {
  if (!isPublic) return { 'Cache-Control': PRIVATE_CACHE_CONTROL }
  const remainingSeconds = expires === undefined ? YEAR_SECONDS : Math.floor((expires.getTime() - Date.now()) / 1_000)
  const seconds = Math.max(0, Math.min(YEAR_SECONDS, remainingSeconds))
  return { 'Cache-Control': `public, max-age=${seconds}, immutable`, 'Cache-Tag': tags }
}

/**
 * Sends an object with ranges and conditional requests (RFC 9110, sections 13 and 14).
 */
export async function serveObject(
  request: IncomingMessage,
  response: ServerResponse,
  { objects, name, caching }: { objects: ObjectReader; name: string; caching: Caching },
  signal: AbortSignal,
): Promise<void> {
  const etag = `"${shortHash(name)}"`
  response.setHeader('ETag', etag)
  for (const [header, value] of Object.entries(cachingHeaders(caching))) response.setHeader(header, value)
  response.setHeader('Accept-Ranges', 'bytes')
  response.setHeader('Content-Type', getContentType(name))
  for (const [header, value] of Object.entries(protectiveHeaders(name))) {
    // A download has a disposition with its name already.
    if (!response.hasHeader(header)) response.setHeader(header, value)
  }
  if (etagMatches(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end()
    return
  }
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRangeHeader(request.headers.range) : undefined
  try {
    const object = await objects.open(name, { ...(range && { range }), signal })
    response.setHeader('Last-Modified', object.modified.toUTCString())
    if (object.range) {
      const { start, end } = object.range
      response.writeHead(206, { 'Content-Range': `bytes ${start}-${end}/${object.bytes}`, 'Content-Length': end - start + 1 })
    } else response.writeHead(200, { 'Content-Length': object.bytes })
    markResponseStarted(response)
    markFirstByte(response)
    if (request.method === 'HEAD') {
      await object.discard()
      response.end()
    } else await object.send(response, signal)
  } catch (error) {
    if (!(error instanceof UnsatisfiableRange)) throw error
    // A shared cache could otherwise send this response to requests for the complete file.
    for (const header of ['Cache-Tag', 'ETag']) response.removeHeader(header)
    response.writeHead(416, { 'Content-Range': `bytes */${error.bytes}`, 'Cache-Control': 'no-store' }).end()
  }
}

/** Returns whether `If-None-Match` matches. The comparison is weak: it ignores a `W/` prefix. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
}
