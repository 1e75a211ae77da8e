import type { RequestListener } from 'node:http'
import type { Cost } from '@vitascope/rate-limit'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { originHeaders } from '../http/cors.ts'
import { type ConcurrencyLimit, type LoadKind, OVERLOADED } from './adaptive-concurrency-limit.ts'
import { rejectEarly } from './early-rejection.ts'

/** The parts of a route that decide whether its requests count as reads or writes. */
interface LimitedRoute {
  verb: string
  cost: Cost
  paths: readonly string[]
}

const LOG_INTERVAL_MS = 1_000
const CODE = 'overloaded'

/**
 * Wraps a listener and rejects requests below `/v2` while too many are in progress. It runs before
 * all other processing, because a rejection must cost a small part of a real response. Rejections
 * are counted, and logged at most once per second. An admitted request is checked again when it
 * takes its slot.
 */
export function rejectWhenOverloaded(
  listener: RequestListener,
  {
    concurrencyLimit,
    routes,
    publicUrl,
    corsOrigins,
    log,
    metrics,
  }: {
    concurrencyLimit: ConcurrencyLimit
    routes: readonly LimitedRoute[]
    publicUrl: () => string
    corsOrigins: readonly string[]
    log: Logger
    metrics: Metrics
  },
): RequestListener {
  const classifyRequest = createClassifier(routes)
  const headersFor = originHeaders(corsOrigins)
  const counter = metrics.counter('vitascope_http_requests_rejected_total', 'Requests rejected because too many were active, by kind', [
    'kind',
  ])
  let rejected = 0
  const logSoon = () =>
    setTimeout(() => {
      log.warn({ rejected }, 'overloaded; rejecting requests')
      rejected = 0
    }, LOG_INTERVAL_MS).unref()

  return (request, response) => {
    const kind = classifyRequest(request.method, request.url)
    if (kind === undefined || !concurrencyLimit.isFull(kind)) return listener(request, response)
    counter.inc({ kind })
    if (rejected++ === 0) logSoon()
    rejectEarly(request, response, publicUrl(), {
      ...{ status: 503, code: CODE, detail: OVERLOADED, instance: '/v2', retryAfter: 1 },
      headers: headersFor(request.headers.origin),
    })
  }
}

/**
 * Returns a function that classifies a request, or returns undefined if it needs no slot. Some GET
 * routes count as writes, as their `cost` says.
 */
function createClassifier(routes: readonly LimitedRoute[]): (method: string | undefined, url: string | undefined) => LoadKind | undefined {
  const getWrites = routes
    .filter(({ verb, cost }) => verb === 'get' && cost !== 'read')
    .flatMap(({ paths }) => paths)
    .map((path) => ({ fixed: `/v2${path.split(/[{:]/, 1)[0]}`, isPrefix: /[{:]/.test(path) }))
  return (method, url = '') => {
    if (!url.startsWith('/v2/') || method === 'OPTIONS') return undefined
    if (method !== 'GET' && method !== 'HEAD') return 'write'
    const path = url.split('?', 1)[0]?.replace(/\/$/, '') ?? ''
    return getWrites.some(({ fixed, isPrefix }) => (isPrefix ? path.startsWith(fixed) : path === fixed)) ? 'write' : 'read'
  }
}
