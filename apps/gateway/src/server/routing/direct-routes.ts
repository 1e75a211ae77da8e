import type { RequestListener } from 'node:http'
import type { Middleware } from '../http/middleware.ts'
import type { ProblemSender } from '../http/send-problem.ts'
import type { Route } from '../route/route.ts'
import { expandTargets } from '../route/route-index.ts'
import { type ApiDependencies, type Serve, serveTarget } from './serve-target.ts'

/**
 * Serves the routes with `bypassExpress` with the same middleware and `serveTarget`. Requests for
 * anything but their exact documented path go to `fallback`: another method, OPTIONS, a query string,
 * a trailing slash.
 */
export function directRoutes(
  routes: readonly Route[],
  {
    dependencies,
    steps,
    sendProblem,
    fallback,
  }: { dependencies: ApiDependencies; steps: readonly Middleware[]; sendProblem: ProblemSender; fallback: RequestListener },
): RequestListener {
  const directByUrl = new Map(routes.filter(({ bypassExpress }) => bypassExpress).map((route) => toDirectRoute(route, dependencies)))
  return (request, response) => {
    const direct = directByUrl.get(request.url ?? '')
    if (!direct || direct.method !== request.method) return void fallback(request, response)
    try {
      for (const step of steps) step(request, response)
    } catch (error) {
      return void sendProblem(error, response)
    }
    direct.serve(request, response, []).catch((error: unknown) => sendProblem(error, response))
  }
}

function toDirectRoute(route: Route, dependencies: ApiDependencies): [url: string, direct: { method: string; serve: Serve }] {
  const [target] = expandTargets(route)
  if (!target || target.params.length > 0) throw new Error(`a route with bypassExpress must not have path parameters: "${route.summary}"`)
  return [`/v2${target.path}`, { method: target.verb.toUpperCase(), serve: serveTarget(target, dependencies) }]
}
