import type { RequestListener } from 'node:http'
import type { AddressRules } from '@vitascope/access'
import type { HttpService } from '@vitascope/grpc'
import type { Logger, Metrics } from '@vitascope/telemetry'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { docsPages } from './docs/docs-pages.ts'
import { API_VERSION, openApiDocument } from './docs/openapi.ts'
import { type Dependency, liveness, readiness } from './health/health-pages.ts'
import { allowOrigins } from './http/cors.ts'
import { refuseOddRequests } from './http/odd-request.ts'
import { refusal } from './http/problem.ts'
import { requestLog } from './http/request-log.ts'
import { type ProblemSender, problemSender, sendJsonBytes } from './http/send-problem.ts'
import type { Step } from './http/step.ts'
import type { Route } from './route.ts'
import { apiRouter } from './routing/api-router.ts'
import { directRoutes } from './routing/direct-routes.ts'
import type { ApiParts } from './routing/serve-target.ts'
import { deliveryProxy } from './web/delivery-proxy.ts'
import { page } from './web/page.ts'
import { playerPages } from './web/player-pages.ts'
import { uploadPage } from './web/upload-page.ts'

export interface AppParts extends ApiParts {
  routes: readonly Route[]
  dependencies: readonly Dependency[]
  delivery: HttpService
  webDir: string
  doNotTrack: 'respect' | 'ignore'
  corsOrigins: readonly string[]
  trustedProxies: AddressRules
  log: Logger
  metrics: Metrics
}

/** Everything that the gateway answers: what is told most often in front of Express, all else by it. */
export function createApp(parts: AppParts): RequestListener {
  const { routes, log, metrics, publicUrl } = parts
  const steps = {
    first: [requestLog({ log, metrics, trusted: parts.trustedProxies }), refuseOddRequests],
    cors: allowOrigins(parts.corsOrigins),
  }
  const sendProblem = problemSender({ publicUrl, log })
  const others = expressApp(parts, steps, sendProblem)
  return directRoutes(routes, { parts, steps: [...steps.first, steps.cors], sendProblem, others })
}

/** In the order in which it is looked at. */
function expressApp(parts: AppParts, steps: { first: readonly Step[]; cors: Step }, sendProblem: ProblemSender): RequestListener {
  const { routes, log } = parts
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')

  const cors = asHandler(steps.cors)
  app.use(...steps.first.map(asHandler))
  app.use('/v2', cors, apiRouter(routes, parts))
  app.use('/delivery', deliveryProxy(parts.delivery, log))
  app.all('/healthz', page('/healthz', liveness))
  app.all('/readyz', page('/readyz', readiness(parts.dependencies)))
  const document = Buffer.from(JSON.stringify(openApiDocument(routes, API_VERSION)))
  app.all(
    '/openapi.json',
    cors,
    page('/openapi.json', (_request, response) => sendJsonBytes(response, document, { 'Cache-Control': 'no-cache' })),
  )
  app.use('/docs', docsPages(routes))
  app.use('/player', playerPages(parts))
  app.all('/upload', uploadPage(parts))
  app.all(
    '/',
    page('/', (_request, response) => response.redirect(302, '/docs')),
  )
  app.use(() => {
    throw refusal('not_found', 'NOT_FOUND', 'there is no such path')
  })
  app.use(asErrorHandler(sendProblem))
  return app
}

function asHandler(step: Step): RequestHandler {
  return (request, response, next) => {
    step(request, response)
    next()
  }
}

/** Express tells it from a handler by its four parameters. */
function asErrorHandler(sendProblem: ProblemSender): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => sendProblem(error, response)
}
