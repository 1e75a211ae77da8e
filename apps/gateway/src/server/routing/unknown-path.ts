import type { Route } from '../route/route.ts'
import { expandTargets } from '../route/route-index.ts'

/** Formats requested paths that do not exist, for problem documents. */
export interface UnknownPaths {
  /**
   * Returns the path of a URL without the query. It shows at most 12 segments: ids, versions,
   * placeholders, words of at most 19 letters and segments of existing paths. Every other segment may be
   * a key, a password, a token or personal data and is replaced by `…`. So is every segment that follows
   * a name such as `password`.
   */
  redact(url: string): string
  /**
   * Returns the error message for a request to the path. If the segment after `/v2` is misspelled, the
   * message suggests the most similar existing one: `/v2/video` for `/v2/vidoe/7`.
   */
  detail(url: string): string
}

const MAX_SEGMENTS = 12
const HIDDEN = '…'
/**
 * Matches segments that may be followed by a secret of any form, also with `password` misspelled. The
 * segment `apikey` is excluded, because words such as `user` follow it in existing paths. Keys after it
 * are recognised by their length (see `WORD`).
 */
const BEFORE_SECRET = /^(?!apikey$).*(pas+w|secret|token|key)/i
const PLACEHOLDER = /^(:\w{1,40}|\{\w{1,40}\})$/
const ID = /^\d{1,19}$/
const VERSION = /^v\d$/
/** Words of at most 19 letters, joined by hyphens. Keys have 20 characters or more. */
const WORD = /^(?=.{1,19}$)[A-Za-z]+(-[A-Za-z]+)*$/
/** Maximum edit distance for a suggestion. A swap of two adjacent letters counts as two edits. */
const MAX_DISTANCE = 2

export function unknownPaths(routes: readonly Route[]): UnknownPaths {
  const paths = routes.flatMap(expandTargets).map(({ path }) => path.split('/').slice(1))
  const words = new Set(paths.flat().filter((segment) => !segment.includes(':')))
  /** The first segments of all paths, such as `video`. */
  const areas = new Set(paths.map(([first = '']) => first))
  const redactSegment = (segment: string, previous: string | undefined) => {
    if (previous !== undefined && !PLACEHOLDER.test(previous) && BEFORE_SECRET.test(previous)) return HIDDEN
    const isHarmless = [PLACEHOLDER, ID, VERSION, WORD].some((form) => form.test(segment)) || words.has(segment) || segment === ''
    return isHarmless ? segment : HIDDEN
  }
  const redact = (url: string) => {
    const segments = (url.split('?', 1)[0] ?? '').split('/').slice(1)
    const redacted = segments.slice(0, MAX_SEGMENTS).map((segment, index) => redactSegment(segment, segments[index - 1]))
    return `/${[...redacted, ...(segments.length > MAX_SEGMENTS ? [HIDDEN] : [])].join('/')}`
  }
  /** Returns the most similar first segment, or undefined if none is similar or the requested one exists. */
  const suggestArea = (url: string) => {
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
      const area = suggestArea(url)
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
