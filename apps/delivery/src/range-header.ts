import type { RangeRequest } from '@vitascope/storage'

/** One byte range of RFC 9110 14.2. Several ranges, other units and malformed ones are ignored, as the RFC allows: undefined. */
export function parseRangeHeader(header: string | undefined): RangeRequest | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') return { last: Number(last) }
  if (last !== '' && Number(last) < Number(first)) return undefined
  return last === '' ? { start: Number(first) } : { start: Number(first), end: Number(last) }
}
