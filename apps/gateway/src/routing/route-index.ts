import type { Route, Verb } from '../route.ts'

/** A route as one verb of one path leads to it. */
export interface Target {
  route: Route
  verb: Verb
  /** The path as it was declared, without optional parts: `/video/:videoId`. */
  path: string
  /** Names of the path's parameters in their order. */
  params: readonly string[]
  /** False for aliases and further spellings. */
  documented: boolean
}

/** All that one shape of path leads to; shapes differ in their literal parts only, so `/user/:email` and `/user/:userId` are one. */
export interface PathEntry {
  /** For Express: parameters are called `p0`, `p1`… */
  pattern: string
  targets: ReadonlyMap<Verb, Target>
}

/** The paths of a table, those first that say more: `/video/upload` stands before `/video/:videoId`. */
export function indexRoutes(routes: readonly Route[]): PathEntry[] {
  const entries = new Map<string, Map<Verb, Target>>()
  for (const target of routes.flatMap(targetsOf)) {
    const pattern = patternOf(target.path)
    const targets = entries.get(pattern) ?? new Map<Verb, Target>()
    const other = targets.get(target.verb)
    if (other) throw new Error(`two routes for ${target.verb} ${target.path}: "${other.route.summary}" and "${target.route.summary}"`)
    targets.set(target.verb, target)
    entries.set(pattern, targets)
  }
  return [...entries].map(([pattern, targets]) => ({ pattern, targets })).sort((a, b) => byLiterals(a.pattern, b.pattern))
}

/** What is only the beginning of paths: `/playlist/create` of `/playlist/create/:organisationId`. */
export function beginnings(routes: readonly Route[]): ReadonlyMap<string, string> {
  const whole = routes.flatMap(targetsOf).map(({ path }) => path)
  const found = whole.flatMap((path) => {
    const parts = path.split('/')
    const first = parts.findIndex((part) => part.includes(':'))
    return parts.flatMap((_, index) => (index > 1 && index < first ? [[parts.slice(0, index + 1).join('/'), path] as const] : []))
  })
  return new Map(found.filter(([beginning]) => !whole.includes(beginning)))
}

/** Each verb and path of a route, its optional parts written out. */
export function targetsOf(route: Route): Target[] {
  const written = [...route.paths.map((path) => ({ verb: route.verb, path })), ...route.aliases]
  const seen = new Set<string>()
  return written
    .flatMap(({ verb, path }) => expand(path).map((plain) => ({ verb, path: plain })))
    .filter(({ verb, path }) => !seen.has(`${verb} ${path}`) && seen.add(`${verb} ${path}`))
    .map(({ verb, path }, index) => ({ route, verb, path, params: paramNames(path), documented: index === 0 }))
}

/** `/embed/:id{/:type}`: with the optional part first, since that is how the path is documented, then without. */
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

function patternOf(path: string): string {
  let count = 0
  return path.replace(PARAM, () => `:p${count++}`)
}

/** Segment by segment: a literal, then one with a parameter in it, then a parameter alone. */
function byLiterals(a: string, b: string): number {
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
