import type { PlaybackPolicy } from './decide.ts'
import type { Rule } from './rules.ts'

/**
 * Returns the sources of the CSP directive `frame-ancestors` of the player page: the domains that the rules may allow to
 * embed it. Returns `*` if pages of other domains may be allowed too. A browser then sends the page, and the decision
 * by the `Referer` header applies.
 */
export function frameAncestors({ videoRules, organisationRules, allowsByDefault }: PlaybackPolicy): string {
  const sources = new Set<string>()
  for (const rule of [...videoRules, ...organisationRules]) {
    if (rule.reportOnly || !concernsPages(rule)) continue
    const { domains, referrers } = rule.conditions
    if (rule.allows) {
      if (domains.length === 0 && referrers.length === 0) return '*'
      // Without a scheme and a port, only those of our own page would match.
      for (const { domain, subdomains } of domains)
        for (const scheme of ['http', 'https']) sources.add(`${scheme}://${subdomains ? '*.' : ''}${domain}:*`)
      for (const { url } of referrers) sources.add(new URL(url).origin)
    } else if (deniesEveryPage(rule)) return formatSources(sources)
  }
  return allowsByDefault ? '*' : formatSources(sources)
}

/** Returns the sources that all of the lists contain, for a page with several videos. */
export function intersectFrameAncestors(lists: readonly string[]): string {
  const [first, ...others] = lists.filter((list) => list !== '*').map((list) => list.split(' '))
  return first ? first.filter((source) => others.every((list) => list.includes(source))).join(' ') : '*'
}

function concernsPages({ conditions: { kinds } }: Rule): boolean {
  return kinds.size === 0 || kinds.has('page')
}

function deniesEveryPage({ conditions }: Rule): boolean {
  const { domains, referrers, countries, addresses, claims, from, until } = conditions
  const hasTime = Number.isFinite(from) || Number.isFinite(until)
  return domains.length + referrers.length + countries.size + addresses.length + claims.length === 0 && !hasTime
}

function formatSources(sources: ReadonlySet<string>): string {
  return sources.size === 0 ? "'self'" : `'self' ${[...sources].join(' ')}`
}
