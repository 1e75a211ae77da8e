import type { FieldError } from '@vitascope/errors'

const LONGEST = 4_096
/** A file that lies in storage already, by the id that encoding gave it; the gateway lets none through that a caller wrote. */
const UPLOADED = /^(upload|tus):\/\/[0-9a-f-]{36}\/[^/\0]*$/

/** What is wrong with the address of a source by its looks; where it leads is checked when it is fetched. */
export function checkSourceUrl(field: string, url: string): FieldError[] {
  if (url === '') return [{ field, message: 'must not be empty' }]
  if (url.length > LONGEST) return [{ field, message: `must have at most ${LONGEST} characters` }]
  if (UPLOADED.test(url)) return []
  const bad = url.includes('\0') || !url.isWellFormed() || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)
  return bad ? [{ field, message: 'must be an address beginning with http:// or https://' }] : []
}
