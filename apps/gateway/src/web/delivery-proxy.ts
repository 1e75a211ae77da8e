import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import type { HttpService } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import type { Request, RequestHandler, Response } from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { type Exchange, exchangeOf } from '../http/exchange.ts'
import { refusal } from '../http/problem.ts'

/** A player that is paused takes nothing for a while; when this is over it has to ask again with a range. */
const IDLE_MS = 60_000
/** Delivery begins to answer by then, or not at all. */
const FIRST_BYTE_MS = 10_000
const VERBS = 'GET, HEAD, OPTIONS'

/** Passes `/delivery/...` on as it is; delivery is told the caller's address, and nothing that the caller claims about it. */
export function deliveryProxy({ origin, agent }: HttpService, log: Logger): RequestHandler {
  const failures = new WeakMap<object, (error: unknown) => void>()
  const proxy = createProxyMiddleware<Request, Response>({
    target: origin,
    ...(agent && { agent }),
    // Its own plugins would answer errors in their own words.
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', limitFirstByte)
        server.on('error', (error, _request, response) => response && failures.get(response)?.(error))
        // The caller is gone.
        server.on('econnreset', () => {})
      },
    ],
  })
  return (request, response, next) => {
    const exchange = exchangeOf(response)
    exchange.template = '/delivery/*'
    exchange.instance = () => '/delivery'
    if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
      response.setHeader('Allow', VERBS)
      throw refusal('refused', 'METHOD_NOT_ALLOWED', `this path takes ${VERBS}`)
    }
    if (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0) {
      throw refusal('invalid', 'BAD_REQUEST', 'a request for a file has no body')
    }
    request.socket.setTimeout(IDLE_MS)
    rewriteHeaders(request.headers, exchange)
    // Express has cut the mount point off; delivery's paths have it.
    request.url = request.originalUrl
    failures.set(response, (error) => {
      if (response.destroyed) return
      log.warn({ err: error, request_id: exchange.requestId }, 'delivery is not to be reached')
      if (response.headersSent) response.destroy()
      else next(refusal('unavailable', 'SERVICE_UNAVAILABLE', 'delivery is not to be reached: try again', 1))
    })
    void proxy(request, response, next)
  }
}

/** Between two hops only, for proxies only to write, or none of delivery's business. */
const DROPPED =
  /^(connection|proxy-.*|keep-alive|te|trailer|upgrade|expect|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|via|authorization|cookie)$/

function rewriteHeaders(headers: IncomingHttpHeaders, { address, requestId }: Exchange): void {
  const close = /(^|,)\s*close\s*(,|$)/i.test(headers.connection ?? '')
  for (const name of Object.keys(headers)) if (DROPPED.test(name)) delete headers[name]
  headers.connection = close ? 'close' : 'keep-alive'
  headers['x-forwarded-for'] = address
  headers['x-request-id'] = requestId
}

function limitFirstByte(outgoing: ClientRequest): void {
  const timer = setTimeout(() => outgoing.destroy(new Error('delivery did not answer in time')), FIRST_BYTE_MS)
  outgoing.once('response', () => clearTimeout(timer))
  outgoing.once('close', () => clearTimeout(timer))
}
