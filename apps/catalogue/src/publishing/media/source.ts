import type { FieldError } from '@vitascope/errors'
import { firstCharacters, isStorable } from '@vitascope/request'

const MAX_URL_LENGTH = 4_096
/** URL of a file that is already in storage. The gateway does not accept such URLs from callers. */
const UPLOAD_URL = /^(upload|tus):\/\/[0-9a-f-]{36}\/[^/\0]*$/

/** Returns the problems of a source URL's syntax. Its host is checked when the source is fetched. */
export function checkSourceUrl(field: string, url: string): FieldError[] {
  if (url === '') return [{ field, message: 'must not be empty' }]
  if (url.length > MAX_URL_LENGTH) return [{ field, message: `must have at most ${MAX_URL_LENGTH} characters` }]
  if (UPLOAD_URL.test(url)) return []
  const isInvalid = !isStorable(url) || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)
  return isInvalid ? [{ field, message: 'must be a URL that starts with http:// or https://' }] : []
}

/** Returns the file name of a source URL, decoded and without unprintable characters. It is never empty. */
export function toFilename(sourceUrl: string): string {
  const segments = new URL(sourceUrl).pathname.split('/')
  const name = firstCharacters(cleanName(decodeSegment(segments.at(-1) ?? '')), 255).trim()
  return name === '' ? 'video' : name
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // The segment is not UTF-8, so it is returned as it is in the URL.
    return segment
  }
}

/** Removes control characters and folder names. Percent-encoded slashes can contain folder names. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  return last.replaceAll(/\p{Cc}/gu, '').toWellFormed()
}
