import type { RequestListener } from 'node:http'
import type { ProblemSender } from '../http/send-problem.ts'
import type { Step } from '../http/step.ts'
import type { Route } from '../route.ts'
import { targetsOf } from './route-index.ts'
import { type ApiParts, type Serve, serveTarget } from './serve-target.ts'

/**
 * Answers the routes that the table has as `direct` in front of Express, by the same steps and the same walk; whatever does not ask for exactly their
 * documented path goes on to `others`: another verb, OPTIONS, a query, a slash at the end.
 */
export function directRoutes(
  routes: readonly Route[],
  { parts, steps, sendProblem, others }: { parts: ApiParts; steps: readonly Step[]; sendProblem: ProblemSender; others: RequestListener },
): RequestListener {
  const served = new Map(routes.filter(({ direct }) => direct).map((route) => directOf(route, parts)))
  return (request, response) => {
    const direct = served.get(request.url ?? '')
    if (!direct || direct.method !== request.method) return void others(request, response)
    try {
      for (const step of steps) step(request, response)
    } catch (error) {
      return void sendProblem(error, response)
    }
    direct.serve(request, response, []).catch((error: unknown) => sendProblem(error, response))
  }
}

function directOf(route: Route, parts: ApiParts): [url: string, direct: { method: string; serve: Serve }] {
  const [target] = targetsOf(route)
  if (!target || target.params.length > 0) throw new Error(`a direct route has a path without parameters: "${route.summary}"`)
  return [`/v2${target.path}`, { method: target.verb.toUpperCase(), serve: serveTarget(target, parts) }]
}
