import type { IncomingHttpHeaders } from 'node:http'

/** What Content-Length says; undefined where it is absent. Node has refused any that is not made of digits. */
export function announcedBytes(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['content-length']
  return text === undefined ? undefined : Number(text)
}

/** What names this very version of the source in `If-Range`: a strong ETag, else the date of its last change. */
export function validatorOf(headers: IncomingHttpHeaders): string | undefined {
  const { etag } = headers
  return etag?.startsWith('"') ? etag : headers['last-modified']
}

/** Where a 206 begins, and the size of the whole where the source knows it. */
export function contentRangeOf(headers: IncomingHttpHeaders): { start: number; total: number | undefined } | undefined {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '')
  return match ? { start: Number(match[1]), total: match[2] === '*' ? undefined : Number(match[2]) } : undefined
}
