import type { Request, RequestHandler, Response } from 'express'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id'
const EXPOSED_HEADERS = 'Allow, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Job-Id, X-Request-Id'
/** Browsers ask again after this many seconds. */
const PREFLIGHT_SECONDS = 600

/** Lets the pages of the given origins read the answers; without credentials of the browser's own, keys being headers here. */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const all = origins.includes('*')
  return (request, response, next) => {
    const { origin } = request.headers
    if (!all) response.vary('Origin')
    if (all || (origin !== undefined && origins.includes(origin))) {
      response.setHeader('Access-Control-Allow-Origin', all ? '*' : `${origin}`)
      response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    }
    next()
  }
}

/** Answers OPTIONS, preflight or not, for a path that takes these verbs. */
export function answerOptions(request: Request, response: Response, verbs: string): void {
  response.setHeader('Allow', verbs)
  if (request.headers['access-control-request-method'] !== undefined && response.hasHeader('Access-Control-Allow-Origin')) {
    response.setHeader('Access-Control-Allow-Methods', verbs)
    response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    response.setHeader('Access-Control-Max-Age', String(PREFLIGHT_SECONDS))
  }
  response.status(204).end()
}
