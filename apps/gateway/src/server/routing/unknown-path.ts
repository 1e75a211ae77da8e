import type { Route } from '../route/route.ts'
import { expandTargets } from '../route/route-index.ts'

/** Formats paths that do not exist for problem documents. */
export interface UnknownPaths {
  /**
   * Returns the path with `…` in place of every segment that may be a key, a password, a token or
   * personal data.
   */
  redact(url: string): string
  /**
   * Returns the error message for a request to the path. It suggests the most similar existing
   * path.
   */
  detail(url: string): string
}

const MAX_SEGMENTS = 12
const HIDDEN = '…'
/**
 * The segment after a name that matches may be a secret, whatever its form. Keys after `apikey` are
 * recognised by their form.
 */
const BEFORE_SECRET = /^(?!apikey$).*(pas+w|secret|token|key)/i
const PLACEHOLDER = /^(:\w{1,40}|\{\w{1,40}\})$/
const ID = /^\d{1,19}$/
const VERSION = /^v\d$/
/** A word of letters. Keys have 20 characters or more. */
const WORD = /^(?=.{1,19}$)[A-Za-z]+(-[A-Za-z]+)*$/
/** Maximum edit distance for a suggestion. A swap of two adjacent letters counts as two edits. */
const MAX_DISTANCE = 2

export function unknownPaths(routes: readonly Route[]): UnknownPaths {
  const paths = routes.flatMap(expandTargets).map(({ path }) => path.split('/').slice(1))
  const words = new Set(paths.flat().filter((segment) => !segment.includes(':')))
  const areas = new Set(paths.map(([first = '']) => first))
  const redactSegment = (segment: string, before: string | undefined) => {
    if (before !== undefined && !PLACEHOLDER.test(before) && BEFORE_SECRET.test(before)) return HIDDEN
    const isHarmless = [PLACEHOLDER, ID, VERSION, WORD].some((form) => form.test(segment)) || words.has(segment) || segment === ''
    return isHarmless ? segment : HIDDEN
  }
  const redact = (url: string) => {
    const segments = (url.split('?', 1)[0] ?? '').split('/').slice(1)
    const redacted = segments.slice(0, MAX_SEGMENTS).map((segment, index) => redactSegment(segment, segments[index - 1]))
    return `/${[...redacted, ...(segments.length > MAX_SEGMENTS ? [HIDDEN] : [])].join('/')}`
  }
  const suggestedArea = (url: string) => {
    const [, version, area = ''] = redact(url).split('/')
    if (version !== 'v2' || area === '' || area === HIDDEN || areas.has(area)) return undefined
    const [nearest] = [...areas]
      .map((one) => ({ one, distance: editDistance(one, area) }))
      .filter(({ distance }) => distance <= MAX_DISTANCE)
      .sort((a, b) => a.distance - b.distance)
    return nearest?.one
  }
  return {
    redact,
    detail(url) {
      const area = suggestedArea(url)
      return `there is no path ${redact(url)}${area === undefined ? '' : `; did you mean /v2/${area}?`}`
    },
  }
}

/** Returns the Levenshtein distance of two short words. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (const [j, second] of [...other].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === second ? 0 : 1)))
    }
    row = next
  }
  return row[other.length] ?? 0
}
