import { parsePageUrl } from './domain.ts'

/** A URL without query, or with `isPrefix` all URLs that begin with it. */
export interface ReferrerPattern {
  url: string
  isPrefix: boolean
}

/**
 * Parses the URL of a page, whose path may end with `*`. Returns undefined for other texts, and for URLs with user
 * information, a query, a fragment or another `*`.
 */
export function parseReferrerPattern(text: string): ReferrerPattern | undefined {
  const isPrefix = text.endsWith('*')
  const url = parsePageUrl(isPrefix ? text.slice(0, -1) : text)
  if (!url || text.slice(0, -1).includes('*') || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return undefined
  // Without a path, `https://example.com*` would match `https://example.com.evil.example`.
  if (isPrefix && !/^[a-z]+:\/\/[^/]+\//i.test(text)) return undefined
  return { url: normalise(url), isPrefix }
}

export function matchesReferrer(page: URL, { url, isPrefix }: ReferrerPattern): boolean {
  const text = normalise(page)
  return isPrefix ? text.startsWith(url) : text === url
}

/** Returns origin and path. The host name has no trailing dot. */
function normalise({ protocol, hostname, port, pathname }: URL): string {
  return `${protocol}//${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}${pathname}`
}
