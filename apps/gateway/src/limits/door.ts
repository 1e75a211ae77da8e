import type { RequestListener } from 'node:http'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { originHeaders } from '../http/cors.ts'
import { requestId } from '../http/exchange.ts'
import { titleOf } from '../http/problem.ts'
import type { Route } from '../route.ts'
import { type LoadKind, type LoadShed, OVERLOADED } from './load-shed.ts'

const LOG_MS = 1_000
const CODE = 'overloaded'

/**
 * Turns requests below `/v2` away while too many are under way, before anything else is done for them: an answer of this kind must cost a small
 * part of a real one, or refusing would be what the machine is busy with. They have one line of the log a second together, and a counter.
 * Who is let in is judged again when its place is taken.
 */
export function createDoor(
  inside: RequestListener,
  {
    shed,
    routes,
    publicUrl,
    corsOrigins,
    log,
    metrics,
  }: {
    shed: LoadShed
    routes: readonly Route[]
    publicUrl: () => string
    corsOrigins: readonly string[]
    log: Logger
    metrics: Metrics
  },
): RequestListener {
  const kindOf = kinds(routes)
  const headersFor = originHeaders(corsOrigins)
  const counter = metrics.counter('vitascope_http_turned_away_total', 'Requests refused at the door: too many were under way', ['kind'])
  let turnedAway = 0
  const sayLater = () =>
    setTimeout(() => {
      log.warn({ turned_away: turnedAway }, 'too many requests are under way')
      turnedAway = 0
    }, LOG_MS).unref()

  return (request, response) => {
    const kind = kindOf(request.method, request.url)
    if (kind === undefined || !shed.isFull(kind)) return inside(request, response)
    counter.inc({ kind })
    if (turnedAway++ === 0) sayLater()
    const id = requestId(request)
    const type = `${publicUrl()}/docs#${CODE}`
    const problem = { type, title: titleOf(CODE), status: 503, detail: OVERLOADED, instance: '/v2', code: CODE, request_id: id }
    const body = JSON.stringify(problem)
    response.writeHead(503, {
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'Retry-After': '1',
      'X-Request-Id': id,
      'X-Content-Type-Options': 'nosniff',
      ...headersFor(request.headers.origin),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  }
}

/** What a request will count as; undefined for what takes no place. A few GETs write, as the table says. */
function kinds(routes: readonly Route[]): (method: string | undefined, url: string | undefined) => LoadKind | undefined {
  const writing = routes
    .filter(({ verb, cost }) => verb === 'get' && cost !== 'read')
    .flatMap(({ paths }) => paths)
    .map((path) => ({ fixed: `/v2${path.split(/[{:]/, 1)[0]}`, goesOn: /[{:]/.test(path) }))
  return (method, url = '') => {
    if (!url.startsWith('/v2/') || method === 'OPTIONS') return undefined
    if (method !== 'GET' && method !== 'HEAD') return 'write'
    const path = url.split('?', 1)[0]?.replace(/\/$/, '') ?? ''
    return writing.some(({ fixed, goesOn }) => (goesOn ? path.startsWith(fixed) : path === fixed)) ? 'write' : 'read'
  }
}
