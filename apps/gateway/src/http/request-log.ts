import type { AddressRules } from '@vitascope/access'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { beginExchange } from './exchange.ts'
import type { Step } from './step.ts'

/** What nginx calls a caller who hung up before the answer was complete. */
const HUNG_UP = 499

/** The first of the chain: gives the request its id, and writes one line and one measurement when it is answered. */
export function requestLog({ log, metrics, trusted }: { log: Logger; metrics: Metrics; trusted: AddressRules }): Step {
  const seconds = metrics.seconds('vitascope_http_request_seconds', 'Requests answered, by verb, path template and status', [
    'method',
    'path',
    'status',
  ])
  return (request, response) => {
    const exchange = beginExchange(request, response, trusted)
    response.setHeader('X-Request-Id', exchange.requestId)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    const method = knownMethod(request.method)
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : HUNG_UP
      const ms = performance.now() - exchange.startedAt
      seconds.observe({ method, path: exchange.template, status }, ms / 1000)
      log[isRoutine(exchange.template, status) ? 'debug' : 'info'](
        {
          method,
          path: exchange.template,
          status,
          ms: Math.round(ms * 10) / 10,
          request_id: exchange.requestId,
          ...(exchange.keyId !== undefined && { key_id: exchange.keyId }),
        },
        'request',
      )
    })
  }
}

/** Segments, assets and what players tell come by the hundred for each viewer; the measurement counts them. */
function isRoutine(template: string, status: number): boolean {
  return status < 400 && /^\/(delivery|player\/assets|v2\/analytics\/events)(\/|$)/.test(template)
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Node knows thirty more verbs; as labels they would only be a way to fill the memory. */
function knownMethod(method = ''): string {
  return METHODS.has(method) ? method : 'OTHER'
}
