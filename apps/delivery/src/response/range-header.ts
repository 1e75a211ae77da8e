import type { RangeRequest } from '@vitascope/storage'

/**
 * Parses a single byte range (RFC 9110, section 14.2). Returns undefined for several ranges, other
 * units and malformed headers, which the RFC allows to ignore.
 */
export function parseRangeHeader(header: string | undefined): RangeRequest | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') return { last: Number(last) }
  if (last !== '' && Number(last) < Number(first)) return undefined
  return last === '' ? { start: Number(first) } : { start: Number(first), end: Number(last) }
}

const MAX_RANGES = 64

/** Returns whether a header has more ranges than a request may have. */
export function hasTooManyRanges(header: string | undefined): boolean {
  return header !== undefined && header.split(',', MAX_RANGES + 1).length > MAX_RANGES
}
