import type { Request, RequestHandler } from 'express'
import { Router } from 'express'
import { answerOptions } from '../http/cors.ts'
import { exchangeOf } from '../http/exchange.ts'
import { refusal } from '../http/problem.ts'
import type { Route, Verb } from '../route.ts'
import { publicName } from './input.ts'
import { beginnings, indexRoutes, type PathEntry, type Target } from './route-index.ts'
import { type ApiParts, nameExchange, serveTarget } from './serve-target.ts'

/**
 * Serves every path of the table, below `/v2`. What is not in the table does not exist. A path without parameters is looked up whole, any other
 * within its first part: Express tries its patterns one after another, and there are some two hundred.
 */
export function apiRouter(routes: readonly Route[], parts: ApiParts): RequestHandler {
  const begun = beginnings(routes)
  const whole = new Map<string, RequestHandler>()
  const areas = new Map<string, Router>()
  for (const entry of indexRoutes(routes)) {
    const serve = dispatcher(entry, begun, parts)
    if (!entry.pattern.includes(':')) {
      whole.set(entry.pattern, serve)
      continue
    }
    const area = areas.get(areaOf(entry.pattern)) ?? Router({ caseSensitive: true, strict: false })
    areas.set(areaOf(entry.pattern), area)
    area.all(entry.pattern, serve)
  }
  return (request, response, next) => {
    const { path } = request
    const serve = whole.get(path.endsWith('/') ? path.slice(0, -1) : path) ?? areas.get(areaOf(path))
    return serve ? serve(request, response, next) : next()
  }
}

/** The first part of a path: `video` of `/video/:p0`. */
function areaOf(path: string): string {
  const [, first = ''] = path.split('/', 2)
  return first
}

/** One path: finds the route of the verb; OPTIONS and 405 follow from the others. */
function dispatcher(entry: PathEntry, begun: ReadonlyMap<string, string>, parts: ApiParts): RequestHandler {
  const targets = new Map([...entry.targets].map(([verb, target]) => [verb, { target, serve: serveTarget(target, parts) }]))
  const get = entry.targets.get('get')
  const verbs = allowedVerbs(entry)
  const options = Object.assign({}, ...[...entry.targets.values()].map(({ route }) => route.optionsHeaders))
  return (request, response) => {
    const asked = request.method.toLowerCase()
    const found = targets.get(asked as Verb) ?? (asked === 'head' && get?.route.safe ? targets.get('get') : undefined)
    if (found) return found.serve(request, response, valuesOf(request, found.target))
    nameExchange(exchangeOf(response), anyTarget(entry), valuesOf(request, anyTarget(entry)))
    if (asked === 'options') return answerOptions(request, response, verbs, options)
    const longer = begun.get(request.path.replace(/\/$/, ''))
    if (longer !== undefined)
      throw refusal(
        'not_found',
        'NOT_FOUND',
        `this path goes on: /v2${longer.replaceAll(/:(\w+)/g, (_, name: string) => `{${publicName(name)}}`)}`,
      )
    response.setHeader('Allow', verbs)
    throw refusal('refused', 'METHOD_NOT_ALLOWED', `this path takes ${verbs}`)
  }
}

function allowedVerbs({ targets }: PathEntry): string {
  const verbs = [...targets.keys()].map((verb) => verb.toUpperCase())
  return [...new Set([...verbs, ...(targets.get('get')?.route.safe ? ['HEAD'] : []), 'OPTIONS'])].sort().join(', ')
}

function anyTarget({ targets }: PathEntry): Target {
  const [target] = targets.values()
  if (!target) throw new Error('a path without a route')
  return target
}

/** Of the path's parameters, in their order. */
function valuesOf(request: Request, { params }: Target): string[] {
  return params.map((_, index) => String(request.params[`p${index}`] ?? ''))
}
