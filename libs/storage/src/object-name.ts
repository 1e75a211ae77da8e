import { DomainError } from '@vitascope/errors'

// 512 keeps a name within what every object store takes (1024 bytes); 255 is the longest file name on common file systems.
const longestName = 512
const longestSegment = 255
const segmentForm = /^[a-z0-9][A-Za-z0-9._-]*$/

/** True for `media/12/v1/h264_250.mp4`: segments of `[a-z0-9][A-Za-z0-9._-]*` joined by `/`, no `..`, at most 512 characters. */
export function isObjectName(name: string): boolean {
  if (name.length === 0 || name.length > longestName || name.includes('..')) return false
  return name.split('/').every((segment) => segment.length <= longestSegment && segmentForm.test(segment))
}

/** Refuses a bad object name; the refusal does not repeat it. */
export function checkObjectName(name: string): string {
  if (!isObjectName(name)) throw new DomainError('invalid', 'BAD_OBJECT_NAME', 'not a name that an object can have')
  return name
}

/** A prefix is a folder of names (`media/12`, a trailing slash is fine), never a part of a segment; empty means everything. */
export function checkObjectPrefix(prefix: string): string {
  const folder = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  return prefix === '' ? '' : checkObjectName(folder)
}
