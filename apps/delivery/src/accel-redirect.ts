import type { ServerResponse } from 'node:http'
import type { PresignUrl } from '@vitascope/storage'
import { type Caching, cachingHeaders, getContentType, protectiveHeaders } from './response/serve-object.ts'

/** Validity in seconds of the signed URL of an object in the bucket. nginx uses it at once. */
const SECONDS = 300

export interface AccelTarget {
  /** Path of the internal location of nginx, such as `/objects/`. */
  path: string
  name: string
  caching: Caching
  /** Signs URLs of the bucket; undefined for a file store. */
  presign: PresignUrl | undefined
}

/**
 * Responds to nginx with the internal location of an object (`X-Accel-Redirect`), which nginx sends
 * to the admitted client. nginx handles ranges and conditional requests. It keeps the content type,
 * the disposition and the caching of this response.
 */
export async function accelRedirect(response: ServerResponse, { path, name, caching, presign }: AccelTarget): Promise<void> {
  // nginx sends the content type of the bucket's response, and the other headers of this one.
  const responseHeaders = { 'response-content-type': getContentType(name) }
  const signed = presign && new URL(await presign({ method: 'GET', name, now: new Date(), seconds: SECONDS, responseHeaders }))
  const location = signed ? `${path}${signed.pathname.slice(1)}${signed.search}` : `${path}${name}`
  for (const [header, value] of Object.entries(protectiveHeaders(name))) {
    // A download has a disposition with its name already.
    if (!response.hasHeader(header)) response.setHeader(header, value)
  }
  const headers = { 'Content-Type': getContentType(name), ...cachingHeaders(caching), 'X-Accel-Redirect': location }
  response.writeHead(200, headers).end()
}
