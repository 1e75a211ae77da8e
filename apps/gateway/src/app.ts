import type { RequestListener } from 'node:http'
import type { HttpService } from '@vitascope/grpc'
import type { TransferLimiter } from '@vitascope/process'
import type { AddressRules } from '@vitascope/security'
import { type Logger, type Metrics, tracedListener } from '@vitascope/telemetry'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { consolePages } from './api/pages/console-pages.ts'
import { landingPage } from './api/pages/landing-page.ts'
import { oembedPage } from './api/pages/oembed-page.ts'
import { organisationPage } from './api/pages/organisation-page.ts'
import { createFactsFinder } from './api/pages/page-facts.ts'
import { playerPages } from './api/pages/player-pages.ts'
import { uploadPage } from './api/pages/upload-page.ts'
import { docsPages, llmsPage } from './server/docs/docs-pages.ts'
import { API_VERSION, openApiDocument } from './server/docs/openapi.ts'
import { type Dependency, liveness, readiness } from './server/health/health-pages.ts'
import { allowOrigins } from './server/http/cors.ts'
import type { Middleware } from './server/http/middleware.ts'
import { page } from './server/http/page.ts'
import { domainError } from './server/http/problem.ts'
import { rejectAmbiguousRequests } from './server/http/reject-ambiguous-requests.ts'
import { requestContext } from './server/http/request-context.ts'
import { requestLog } from './server/http/request-log.ts'
import { sendJsonBytes } from './server/http/response.ts'
import { type ProblemSender, problemSender } from './server/http/send-problem.ts'
import { deliveryProxy } from './server/proxy/delivery-proxy.ts'
import type { Route } from './server/route/route.ts'
import { apiRouter } from './server/routing/api-router.ts'
import { directRoutes } from './server/routing/direct-routes.ts'
import type { ApiDependencies } from './server/routing/serve-target.ts'
import { unknownPaths } from './server/routing/unknown-path.ts'

export interface AppDependencies extends ApiDependencies {
  routes: readonly Route[]
  readinessDependencies: readonly Dependency[]
  delivery: HttpService
  /** Limits the number of files that are proxied to clients at the same time. */
  downloads: TransferLimiter
  webDir: string
  docsDir: string
  consoleDir: string
  doNotTrack: 'respect' | 'ignore'
  corsOrigins: readonly string[]
  trustedProxies: AddressRules
  log: Logger
  metrics: Metrics
}

/**
 * Builds the gateway's request listener. Hot routes bypass Express, everything else goes through
 * it.
 */
export function createApp(dependencies: AppDependencies): RequestListener {
  const { routes, log, metrics, publicUrl } = dependencies
  const steps = {
    first: [requestLog({ log, metrics, trusted: dependencies.trustedProxies, publicUrl }), rejectAmbiguousRequests],
    cors: allowOrigins(dependencies.corsOrigins),
  }
  const sendProblem = problemSender({ publicUrl, log })
  const expressListener = expressApp(dependencies, steps, sendProblem)
  const direct = { dependencies, steps: [...steps.first, steps.cors], sendProblem, fallback: expressListener }
  return tracedListener(directRoutes(routes, direct), (response) => requestContext(response).template)
}

/** Builds the Express app. The order of the handlers matters. */
function expressApp(
  dependencies: AppDependencies,
  steps: { first: readonly Middleware[]; cors: Middleware },
  sendProblem: ProblemSender,
): RequestListener {
  const { routes, log } = dependencies
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')

  const cors = toHandler(steps.cors)
  app.use(...steps.first.map(toHandler))
  app.use('/v2', cors, apiRouter(routes, dependencies))
  app.use('/delivery', deliveryProxy(dependencies.delivery, dependencies.downloads, log))
  app.all('/healthz', page('/healthz', liveness))
  app.all('/readyz', page('/readyz', readiness(dependencies.readinessDependencies)))
  app.all('/openapi.json', cors, openApiPage(routes))
  app.use('/docs', docsPages(dependencies.docsDir))
  app.all('/llms.txt', llmsPage(dependencies.docsDir, dependencies.publicUrl))
  const pages = { ...dependencies, findFacts: createFactsFinder(dependencies) }
  app.use('/player', playerPages(pages))
  app.all('/o/:id', organisationPage(pages))
  app.all('/oembed', toHandler(allowOrigins(['*'])), oembedPage(pages))
  app.all('/upload', uploadPage(dependencies))
  app.use('/console', consolePages(dependencies))
  app.all('/', landingPage())
  const unknown = unknownPaths(routes)
  app.use((request, response) => {
    requestContext(response).instance = () => unknown.redact(request.originalUrl)
    throw domainError('not_found', 'NOT_FOUND', unknown.detail(request.originalUrl))
  })
  app.use(toErrorHandler(sendProblem))
  return app
}

/** Serves the OpenAPI document. The first request builds it, which takes 0.3 s that a start does not wait for. */
function openApiPage(routes: readonly Route[]): RequestHandler {
  let document: Buffer | undefined
  return page('/openapi.json', (_request, response) => {
    document ??= Buffer.from(JSON.stringify(openApiDocument(routes, API_VERSION)))
    return sendJsonBytes(response, document, { 'Cache-Control': 'no-cache' })
  })
}

function toHandler(step: Middleware): RequestHandler {
  return (request, response, next) => {
    step(request, response)
    next()
  }
}

/** Wraps the sender as an error handler. Express recognises one by its four parameters. */
function toErrorHandler(sendProblem: ProblemSender): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => sendProblem(error, response)
}
