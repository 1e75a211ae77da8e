import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PresignUrl } from '@vitascope/storage'
import { getContentType, protectiveHeaders } from './response/serve-object.ts'

/** Validity of a presigned URL. It cannot be revoked earlier, even if the video changes. */
const URL_VALID_SECONDS = 300
/** Within this time the same file has the same URL, so that the client's cache is used. */
const URL_REUSE_SECONDS = 60

/**
 * Returns whether a file is redirected to the bucket. Delivery itself sends playlists and texts,
 * because the relative URLs in them must lead to delivery and keep the token in the path.
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
  const now = new Date(Math.floor(Date.now() / 1000 / URL_REUSE_SECONDS) * URL_REUSE_SECONDS * 1000)
  // Only this header is used: a bucket cannot send a content security policy, and has a separate origin anyway.
  const { 'Content-Disposition': disposition } = protectiveHeaders(name)
  const responseHeaders = {
    'response-cache-control': `private, max-age=${URL_VALID_SECONDS}`,
    ...(disposition && { 'response-content-disposition': disposition }),
    'response-content-type': getContentType(name),
  }
  // A signature is valid for one method only.
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
  const headers = {
    Location: await presign({ method, name, now, seconds: URL_VALID_SECONDS, responseHeaders }),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  }
  response.writeHead(302, headers).end()
}
