import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PresignUrl } from '@vitascope/storage'
import { getContentType, protectiveHeaders } from './response/serve-object.ts'

/** Validity of a presigned URL. It cannot be revoked earlier, even if the video changes. */
const OPEN_SECONDS = 300
/** Within this time the same file has the same URL, so that the client's cache is used. */
const SAME_SECONDS = 60

/**
 * Returns whether a file is redirected to the bucket. Playlists and texts are sent by delivery,
 * because the relative URLs in them contain the token.
 */
export function isRedirected(name: string): boolean {
  return !/[.](m3u8|vtt)$/.test(name)
}

/** Redirects an admitted client to the object in the bucket. The bucket handles ranges and conditional requests. */
export async function redirectToBucket(
  request: IncomingMessage,
  response: ServerResponse,
  presign: PresignUrl,
  name: string,
): Promise<void> {
  const now = new Date(Math.floor(Date.now() / 1000 / SAME_SECONDS) * SAME_SECONDS * 1000)
  // A bucket has an origin of its own, and cannot send a content security policy.
  const { 'Content-Disposition': disposition } = protectiveHeaders(name)
  const responseHeaders = {
    'response-cache-control': `private, max-age=${OPEN_SECONDS}`,
    ...(disposition && { 'response-content-disposition': disposition }),
    'response-content-type': getContentType(name),
  }
  // A signature is valid for one method only.
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
  const headers = {
    Location: await presign({ method, name, now, seconds: OPEN_SECONDS, responseHeaders }),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  }
  response.writeHead(302, headers).end()
}
