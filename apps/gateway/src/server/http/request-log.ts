import type { AddressRules } from '@vitascope/security'
import { bindTrace, type Logger, type Metrics } from '@vitascope/telemetry'
import type { Middleware } from './middleware.ts'
import { beginRequest } from './request-context.ts'

/** nginx's status for a client that disconnected before the response was complete. */
const CLIENT_CLOSED_REQUEST = 499

/** Browsers use only https for this host for one year. Subdomains are not included. */
const HSTS = 'max-age=31536000'

/**
 * Returns the first middleware. It assigns the request id, and writes one log line and one
 * measurement when the request ends.
 */
export function requestLog({
  log,
  metrics,
  trusted,
  publicUrl,
}: {
  log: Logger
  metrics: Metrics
  trusted: AddressRules
  publicUrl: () => string
}): Middleware {
  const seconds = metrics.seconds(
    'vitascope_http_request_duration_seconds',
    'Duration of HTTP requests, by method, path template and status',
    ['method', 'path', 'status'],
  )
  return (request, response) => {
    const context = beginRequest(request, response, trusted)
    response.setHeader('X-Request-Id', context.requestId)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (publicUrl().startsWith('https://')) response.setHeader('Strict-Transport-Security', HSTS)
    const method = methodLabel(request.method)
    const logResponse = () => {
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST
      const ms = performance.now() - context.startedAt
      seconds.observe({ method, path: context.template, status }, ms / 1000)
      log[isRoutine(context.template, status) ? 'debug' : 'info'](
        {
          method,
          path: context.template,
          status,
          ms: Math.round(ms * 10) / 10,
          request_id: context.requestId,
          ...(context.keyId !== undefined && { key_id: context.keyId }),
        },
        'request',
      )
    }
    response.once('close', bindTrace(logResponse))
  }
}

/**
 * Returns true for successful requests that are too frequent to log: segments, assets, player events
 * and CMCD reports. Metrics still count them.
 */
function isRoutine(template: string, status: number): boolean {
  return status < 400 && /^\/(delivery|player\/assets|v2\/analytics\/(events|cmcd))(\/|$)/.test(template)
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Returns the method, or `OTHER` for one of the rarer methods that Node accepts. This bounds the
 * number of metric labels.
 */
function methodLabel(method = ''): string {
  return METHODS.has(method) ? method : 'OTHER'
}
