import type { Request, RequestHandler } from 'express'
import { Router } from 'express'
import { respondToOptions } from '../http/cors.ts'
import { domainError } from '../http/problem.ts'
import { requestContext } from '../http/request-context.ts'
import type { Route, Verb } from '../route/route.ts'
import { incompletePaths, indexRoutes, type PathEntry, publicName, type Target } from '../route/route-index.ts'
import { type ApiDependencies, bindPathParams, serveTarget } from './serve-target.ts'

/**
 * Serves every path of the route table. It must be mounted at `/v2`. All other paths are passed to the
 * next handler. A path without parameters is found in a map. Other paths are matched only against the
 * patterns with the same first segment, because Express tries patterns one after another, and there
 * are about two hundred.
 */
export function apiRouter(routes: readonly Route[], dependencies: ApiDependencies): RequestHandler {
  const longerPaths = incompletePaths(routes)
  const fixedPaths = new Map<string, RequestHandler>()
  const routers = new Map<string, Router>()
  for (const entry of indexRoutes(routes)) {
    const serve = dispatcher(entry, longerPaths, dependencies)
    if (!entry.pattern.includes(':')) {
      fixedPaths.set(entry.pattern, serve)
      continue
    }
    const router = routers.get(firstSegment(entry.pattern)) ?? Router({ caseSensitive: true, strict: false })
    routers.set(firstSegment(entry.pattern), router)
    router.all(entry.pattern, serve)
  }
  return (request, response, next) => {
    const { path } = request
    const serve = fixedPaths.get(path.endsWith('/') ? path.slice(0, -1) : path) ?? routers.get(firstSegment(path))
    return serve ? serve(request, response, next) : next()
  }
}

/** Returns the first segment of a path: `video` of `/video/:p0`. */
function firstSegment(path: string): string {
  const [, first = ''] = path.split('/', 2)
  return first
}

/**
 * Returns the handler of one path. It selects the route by the method. HEAD is served by the route of a
 * read-only GET. OPTIONS and the error 405 list the methods of the path. Without a route for the
 * method, a path that is only the beginning of longer ones (`/playlist/create`) is 404 and not 405.
 */
function dispatcher(entry: PathEntry, longerPaths: ReadonlyMap<string, string>, dependencies: ApiDependencies): RequestHandler {
  const targets = new Map([...entry.targets].map(([verb, target]) => [verb, { target, serve: serveTarget(target, dependencies) }]))
  const get = entry.targets.get('get')
  const verbs = allowedVerbs(entry)
  const options = Object.assign({}, ...[...entry.targets.values()].map(({ route }) => route.optionsHeaders))
  return (request, response) => {
    const method = request.method.toLowerCase()
    const target = targets.get(method as Verb) ?? (method === 'head' && get?.route.readOnly ? targets.get('get') : undefined)
    if (target) return target.serve(request, response, readPathValues(request, target.target))
    bindPathParams(requestContext(response), anyTarget(entry), readPathValues(request, anyTarget(entry)))
    if (method === 'options') return respondToOptions(request, response, verbs, options)
    const longerPath = longerPaths.get(request.path.replace(/\/$/, ''))
    if (longerPath !== undefined) {
      const publicPath = longerPath.replaceAll(/:(\w+)/g, (_, name: string) => `{${publicName(name)}}`)
      throw domainError('not_found', 'NOT_FOUND', `this path is incomplete; a longer path is /v2${publicPath}`)
    }
    response.setHeader('Allow', verbs)
    throw domainError('failed_precondition', 'METHOD_NOT_ALLOWED', `this path allows ${verbs}`)
  }
}

/** Returns the value of the `Allow` header: the methods of a path, with HEAD and OPTIONS. */
function allowedVerbs({ targets }: PathEntry): string {
  const verbs = [...targets.keys()].map((verb) => verb.toUpperCase())
  return [...new Set([...verbs, ...(targets.get('get')?.route.readOnly ? ['HEAD'] : []), 'OPTIONS'])].sort().join(', ')
}

/** Returns the first target of a path, for requests whose method has none. */
function anyTarget({ targets }: PathEntry): Target {
  const [target] = targets.values()
  if (!target) throw new Error('a path entry has no route')
  return target
}

/** Returns the values of the path parameters in order. */
function readPathValues(request: Request, { params }: Target): string[] {
  return params.map((_, index) => String(request.params[`p${index}`] ?? ''))
}
