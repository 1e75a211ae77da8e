import type { IncomingMessage, ServerResponse } from 'node:http'
import { presignedUrl, type SigningBucket } from '@vitascope/storage'
import { typeOf } from './serve-object.ts'

/** How long an address opens its object, whatever becomes of the video meanwhile: what was admitted once cannot be taken back sooner. */
const OPEN_SECONDS = 300
/** Within this time the same file has the same address, so that what a viewer's own cache holds of it is found. */
const SAME_SECONDS = 60

/** Playlists and texts are sent by delivery itself: the relative addresses in them carry the token on. */
export function isLedTo(name: string): boolean {
  return !/[.](m3u8|vtt)$/.test(name)
}

/** Leads a viewer who has been admitted to the object in its bucket; ranges and conditions are answered there. */
export function leadToObject(request: IncomingMessage, response: ServerResponse, bucket: SigningBucket, name: string): void {
  const now = new Date(Math.floor(Date.now() / 1000 / SAME_SECONDS) * SAME_SECONDS * 1000)
  const answer = { 'response-cache-control': `private, max-age=${OPEN_SECONDS}`, 'response-content-type': typeOf(name) }
  // The signature holds for one method.
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
  const headers = {
    Location: presignedUrl(bucket, { method, name, now, seconds: OPEN_SECONDS, answer }),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  }
  response.writeHead(302, headers).end()
}
