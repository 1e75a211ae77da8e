import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from './middleware.ts'
import { vary } from './response.ts'

const ALLOWED_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Tus-Resumable, Upload-Checksum, Upload-Defer-Length, Upload-Length, Upload-Metadata, Upload-Offset, X-Request-Id'
const EXPOSED_HEADERS =
  'Allow, Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Expires, Upload-Length, Upload-Metadata, Upload-Offset, X-Job-Id, X-Request-Id, X-Video-Id'
/** How long browsers cache a preflight response, in seconds. */
const PREFLIGHT_SECONDS = 600

/**
 * Allows pages of the given origins to read responses. Credentials mode is not enabled, because API
 * keys are sent in headers.
 */
export function allowOrigins(origins: readonly string[]): Middleware {
  const headersFor = originHeaders(origins)
  return (request, response) => {
    const { Vary: varies, ...headers } = headersFor(request.headers.origin)
    if (varies !== undefined) vary(response, varies)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  }
}

/** Returns a function from a request's `Origin` to the CORS headers of its response. */
export function originHeaders(origins: readonly string[]): (origin: string | undefined) => Readonly<Record<string, string>> {
  const headersForOrigin = (origin: string) => ({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS })
  if (origins.includes('*')) {
    const headersForAnyOrigin = headersForOrigin('*')
    return () => headersForAnyOrigin
  }
  return (origin) => ({ Vary: 'Origin', ...(origin !== undefined && origins.includes(origin) && headersForOrigin(origin)) })
}

/** Answers OPTIONS, preflight or not, for a path that supports these verbs. */
export function respondToOptions(
  request: IncomingMessage,
  response: ServerResponse,
  verbs: string,
  extraHeaders: Readonly<Record<string, string>> = {},
): void {
  response.setHeaders(new Map(Object.entries({ Allow: verbs, ...extraHeaders })))
  if (request.headers['access-control-request-method'] !== undefined && response.hasHeader('Access-Control-Allow-Origin')) {
    response.setHeader('Access-Control-Allow-Methods', verbs)
    response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    response.setHeader('Access-Control-Max-Age', String(PREFLIGHT_SECONDS))
  }
  response.statusCode = 204
  response.end()
}
