import { firstCharacters } from '../text.ts'

/** The name of the file that an address leads to, decoded and fit to be shown; never empty. */
export function sourceName(sourceUrl: string): string {
  const segments = new URL(sourceUrl).pathname.split('/')
  const name = firstCharacters(clean(decode(segments.at(-1) ?? '')), 255).trim()
  return name === '' ? 'video' : name
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not UTF-8: shown as it is written in the address.
    return segment
  }
}

/** Without control characters, and without the slashes that were hidden by percent signs. */
function clean(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  return last.replaceAll(/\p{Cc}/gu, '').toWellFormed()
}
