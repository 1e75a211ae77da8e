import { DomainError } from '@vitascope/errors'

// S3 limits names to 1,024 bytes, so every object store accepts 512 characters. Common file systems
// limit file names to 255 bytes.
const MAX_NAME_LENGTH = 512
const MAX_SEGMENT_LENGTH = 255
const SEGMENT_PATTERN = /^[a-z0-9][A-Za-z0-9._-]*$/

/**
 * Returns whether a name is valid, such as `media/12/v1/h264_250.mp4`: segments of
 * `[a-z0-9][A-Za-z0-9._-]*` joined by `/`, without `..`, at most 512 characters in all and 255 in a
 * segment.
 */
export function isObjectName(name: string): boolean {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH || name.includes('..')) return false
  return name.split('/').every((segment) => segment.length <= MAX_SEGMENT_LENGTH && SEGMENT_PATTERN.test(segment))
}

/** Returns the name, or throws `BAD_OBJECT_NAME`. The error does not contain the name. */
export function checkObjectName(name: string): string {
  if (!isObjectName(name)) throw new DomainError('invalid', 'BAD_OBJECT_NAME', 'not a valid object name')
  return name
}

/**
 * Returns a prefix without its trailing slash, or throws `BAD_OBJECT_NAME`. A prefix is a folder
 * (`media/12`), never a part of a segment; an empty prefix means all objects.
 */
export function checkObjectPrefix(prefix: string): string {
  const folder = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  return prefix === '' ? '' : checkObjectName(folder)
}
