import type { FieldError } from '@vitascope/errors'
import { firstCharacters, isStorable } from '@vitascope/request'

const MAX_URL_LENGTH = 4_096
/** A file that is already in storage, by the id that encoding assigned. The gateway rejects such URLs from callers. */
const UPLOADED = /^(upload|tus):\/\/[0-9a-f-]{36}\/[^/\0]*$/

/** Returns the problems of a source URL's syntax. Its host is checked when the source is fetched. */
export function checkSourceUrl(field: string, url: string): FieldError[] {
  if (url === '') return [{ field, message: 'must not be empty' }]
  if (url.length > MAX_URL_LENGTH) return [{ field, message: `must have at most ${MAX_URL_LENGTH} characters` }]
  if (UPLOADED.test(url)) return []
  const bad = !isStorable(url) || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)
  return bad ? [{ field, message: 'must be a URL that starts with http:// or https://' }] : []
}

/** Returns the file name of a source URL, decoded and without unprintable characters. It is never empty. */
export function sourceName(sourceUrl: string): string {
  const segments = new URL(sourceUrl).pathname.split('/')
  const name = firstCharacters(clean(decode(segments.at(-1) ?? '')), 255).trim()
  return name === '' ? 'video' : name
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not UTF-8: returned as written in the URL.
    return segment
  }
}

/** Removes control characters, and folders that were hidden in percent-encoded slashes. */
function clean(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  return last.replaceAll(/\p{Cc}/gu, '').toWellFormed()
}
