import type { Route, Verb } from './route.ts'

/** One method and path of a route. */
export interface Target {
  route: Route
  verb: Verb
  /** The declared path without optional parts: `/video/:videoId`. */
  path: string
  /** Names of the path parameters in order. */
  params: readonly string[]
  /** False for aliases and alternative spellings. */
  documented: boolean
}

/**
 * All targets of one path pattern. Names of parameters are not part of a pattern, so
 * `/user/:email` and `/user/:userId` have the same one.
 */
export interface PathEntry {
  /** Pattern for Express, with parameters named `p0`, `p1`… */
  pattern: string
  targets: ReadonlyMap<Verb, Target>
}

/**
 * Returns the paths of the route table, more specific ones first: `/video/upload` precedes
 * `/video/:videoId`. Throws if two routes have the same method and pattern.
 */
export function indexRoutes(routes: readonly Route[]): PathEntry[] {
  const entries = new Map<string, Map<Verb, Target>>()
  for (const target of routes.flatMap(expandTargets)) {
    const pattern = toPattern(target.path)
    const targets = entries.get(pattern) ?? new Map<Verb, Target>()
    const existing = targets.get(target.verb)
    if (existing) throw new Error(`two routes for ${target.verb} ${target.path}: "${existing.route.summary}" and "${target.route.summary}"`)
    targets.set(target.verb, target)
    entries.set(pattern, targets)
  }
  return [...entries].map(([pattern, targets]) => ({ pattern, targets })).sort((a, b) => compareBySpecificity(a.pattern, b.pattern))
}

/**
 * Returns a map from each incomplete path to a path that starts with it: from `/playlist/create` to
 * `/playlist/create/:organisationId`.
 */
export function incompletePaths(routes: readonly Route[]): ReadonlyMap<string, string> {
  const allPaths = routes.flatMap(expandTargets).map(({ path }) => path)
  const incomplete = allPaths.flatMap((path) => {
    const segments = path.split('/')
    const first = segments.findIndex((segment) => segment.includes(':'))
    return segments.flatMap((_, index) => (index > 1 && index < first ? [[segments.slice(0, index + 1).join('/'), path] as const] : []))
  })
  return new Map(incomplete.filter(([beginning]) => !allPaths.includes(beginning)))
}

/** Returns each method and path of a route, with its optional parts expanded. */
export function expandTargets(route: Route): Target[] {
  const declared = [...route.paths.map((path) => ({ verb: route.verb, path })), ...route.aliases]
  const known = new Set<string>()
  return declared
    .flatMap(({ verb, path }) => expand(path).map((expandedPath) => ({ verb, path: expandedPath })))
    .filter(({ verb, path }) => !known.has(`${verb} ${path}`) && known.add(`${verb} ${path}`))
    .map(({ verb, path }, index) => ({ route, verb, path, params: paramNames(path), documented: index === 0 }))
}

/**
 * Expands `/embed/:id{/:type}`. The form with the optional part is first, because it is the
 * documented one.
 */
function expand(path: string): string[] {
  const start = path.indexOf('{')
  if (start === -1) return [path]
  const end = matchingBrace(path, start)
  const [before, inner, after] = [path.slice(0, start), path.slice(start + 1, end), path.slice(end + 1)]
  return [...expand(before + inner + after), ...expand(before + after)]
}

function matchingBrace(path: string, start: number): number {
  let depth = 0
  for (let i = start; i < path.length; i++) {
    if (path[i] === '{') depth++
    if (path[i] === '}' && --depth === 0) return i
  }
  throw new Error(`a brace is not closed in ${path}`)
}

const PARAM = /:(\w+)/g

function paramNames(path: string): string[] {
  return [...path.matchAll(PARAM)].map(([, name = '']) => name)
}

function toPattern(path: string): string {
  let count = 0
  return path.replace(PARAM, () => `:p${count++}`)
}

/**
 * Compares paths segment by segment: literals sort before segments that contain a parameter, and
 * these before parameters.
 */
function compareBySpecificity(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = rank(left[i] ?? '') - rank(right[i] ?? '')
    if (difference !== 0) return difference
  }
  return a < b ? -1 : 1
}

function rank(segment: string): number {
  if (!segment.includes(':')) return 0
  return /^:\w+$/.test(segment) ? 2 : 1
}

/** Returns the public spelling of a path parameter: `videoId` becomes `video_id`. */
export function publicName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
