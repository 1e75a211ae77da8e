import type { IncomingHttpHeaders } from 'node:http'

/**
 * Returns Content-Length, or undefined if it is absent. Node has already rejected values with other
 * characters than digits.
 */
export function getContentLength(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['content-length']
  return text === undefined ? undefined : Number(text)
}

/** Returns the validator for `If-Range`: a strong ETag, else the Last-Modified date. */
export function getValidator(headers: IncomingHttpHeaders): string | undefined {
  const { etag } = headers
  return etag?.startsWith('"') ? etag : headers['last-modified']
}

/**
 * Returns the position of the first byte of a 206 response, and the total size if the header
 * contains it. Returns undefined if the header is absent or malformed.
 */
export function parseContentRange(headers: IncomingHttpHeaders): { start: number; total: number | undefined } | undefined {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '')
  return match ? { start: Number(match[1]), total: match[2] === '*' ? undefined : Number(match[2]) } : undefined
}
