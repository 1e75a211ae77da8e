import { domainToASCII } from 'node:url'

/** A domain, or with `subdomains` all domains below it. */
export interface DomainPattern {
  domain: string
  subdomains: boolean
}

/** Characters at which `domainToASCII` would end the name, or that it would remove. */
const URL_CHARACTERS = /[\s/\\?#:@%]/
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)

/**
 * Parses `example.com` or `*.example.com`. International names are converted to their ASCII form, and a trailing dot is
 * removed. Returns undefined for other texts, such as `ex*mple.com`, URLs and names with a port.
 */
export function parseDomainPattern(text: string): DomainPattern | undefined {
  const subdomains = text.startsWith('*.')
  const domain = toAsciiDomain(subdomains ? text.slice(2) : text)
  return domain === undefined ? undefined : { domain, subdomains }
}

export function matchesDomain(domain: string, pattern: DomainPattern): boolean {
  return pattern.subdomains ? domain.endsWith(`.${pattern.domain}`) : domain === pattern.domain
}

/**
 * Returns the domain of a page by the value of its `Origin` or `Referer` header. Returns undefined if there is none: an
 * opaque origin (`null`), another scheme than HTTP, or a text that is not a URL.
 */
export function toDomain(page: string | undefined): string | undefined {
  const url = parsePageUrl(page)
  return url && toAsciiDomain(url.hostname)
}

/** Returns whether two pages have the same host and port. */
export function isSameHost(page: string | undefined, host: string | undefined): boolean {
  return host !== undefined && host !== '' && parsePageUrl(page)?.host === host
}

/** Parses the URL of a page. Returns undefined for other schemes than HTTP. */
export function parsePageUrl(page: string | undefined): URL | undefined {
  if (page === undefined || !URL.canParse(page)) return undefined
  const url = new URL(page)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

function toAsciiDomain(text: string): string | undefined {
  if (URL_CHARACTERS.test(text)) return undefined
  const domain = domainToASCII(text.endsWith('.') ? text.slice(0, -1) : text)
  return DOMAIN.test(domain) ? domain : undefined
}
