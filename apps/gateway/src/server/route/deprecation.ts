import { expandTargets, type Target } from './route-index.ts'

/** Old spellings are deprecated from this time on. */
const DEPRECATED = new Date('2026-11-01T00:00:00Z')
/** Old spellings work at least until this time. */
const SUNSET = new Date('2030-01-01T00:00:00Z')

/** Returns the documented target of a deprecated spelling. Returns undefined for all other targets. */
export function findSuccessor(target: Target): Target | undefined {
  const first = expandTargets(target.route)[0]
  return target.documented || !first || isShortForm(target, first) ? undefined : first
}

/** Returns true for the documented path without its optional parts, which is not deprecated. */
export function isShortForm({ verb, path }: Target, documented: Target): boolean {
  return verb === documented.verb && documented.path.startsWith(path)
}

/** Page that explains old spellings. */
const PAGE = '/docs/guides/call-the-api#old-paths'

/** Headers of responses to deprecated spellings (RFC 9745, RFC 8594). They are empty for all others. */
export function deprecationHeaders(target: Target): Readonly<Record<string, string>> {
  if (!findSuccessor(target)) return {}
  return {
    Deprecation: `@${DEPRECATED.getTime() / 1_000}`,
    Sunset: SUNSET.toUTCString(),
    Link: `<${PAGE}>; rel="deprecation"; type="text/html"`,
  }
}
