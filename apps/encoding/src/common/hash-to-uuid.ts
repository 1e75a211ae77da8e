import { createHash } from 'node:crypto'

/** Returns a UUID of version 8 (RFC 9562) with the SHA-256 of a text. Equal texts have the same UUID. */
export function hashToUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}
