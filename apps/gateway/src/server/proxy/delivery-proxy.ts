import { type ClientRequest, globalAgent, type IncomingHttpHeaders } from 'node:http'
import type { HttpService } from '@vitascope/grpc'
import { downloadProgress, type TransferLimiter } from '@vitascope/process'
import { markResponseStarted } from '@vitascope/rate-limit'
import { toWidestNetwork } from '@vitascope/security'
import { currentTraceparent, type Logger, TRACEPARENT } from '@vitascope/telemetry'
import type { Request, RequestHandler, Response } from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { domainError } from '../http/problem.ts'
import { type RequestContext, requestContext } from '../http/request-context.ts'

/** Idle timeout. A player that is paused longer must request the rest with a range. */
const IDLE_TIMEOUT_MS = 60_000
/** Time limit for the first byte of delivery's response. */
const FIRST_BYTE_TIMEOUT_MS = 10_000
const VERBS = 'GET, HEAD, OPTIONS'

/**
 * Proxies `/delivery/...` unchanged. Delivery receives the client address, but no forwarding
 * headers of the client. Clients below the minimum rate are disconnected.
 */
export function deliveryProxy({ origin, agent }: HttpService, downloads: TransferLimiter, log: Logger): RequestHandler {
  const failures = new WeakMap<object, (error: unknown) => void>()
  /** The last request to delivery, by response to the client. */
  const sent = new WeakMap<object, ClientRequest>()
  const proxy = createProxyMiddleware<Request, Response>({
    target: origin,
    // The default agent of the proxy has at most 256 connections, and further requests would wait without a time limit.
    agent: agent ?? globalAgent,
    // The built-in plugins would answer errors in their own format.
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (outgoing, _request, response) => {
          sent.set(response, outgoing)
          // The connection to delivery stays open also if the client closes its own.
          outgoing.setHeader('connection', 'keep-alive')
          limitFirstByte(outgoing)
        })
        server.on('proxyRes', (_incoming, _request, response) => markResponseStarted(response))
        server.on('error', (error, _request, response) => response && failures.get(response)?.(error))
        // The client disconnected.
        server.on('econnreset', () => {})
      },
    ],
  })
  return (request, response, next) => {
    const context = requestContext(response)
    context.template = '/delivery/*'
    context.instance = () => '/delivery'
    if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
      response.setHeader('Allow', VERBS)
      throw domainError('failed_precondition', 'METHOD_NOT_ALLOWED', `this path allows ${VERBS}`)
    }
    if (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0) {
      throw domainError('invalid', 'BAD_REQUEST', 'a request for a file must not have a body')
    }
    const client = toWidestNetwork(context.address)
    const end = downloads.begin({ client, ...downloadProgress(response), cut: () => request.socket.destroy() })
    response.once('close', end)
    request.socket.setTimeout(IDLE_TIMEOUT_MS)
    rewriteHeaders(request.headers, context)
    // Express removed the mount path, which delivery's paths include.
    request.url = request.originalUrl
    failures.set(response, (error) => {
      if (response.destroyed) return
      // Delivery may close an idle connection at the moment when it is used again. Reads can be repeated.
      if (sent.get(response)?.reusedSocket && isConnectionClosed(error) && !response.headersSent) {
        void proxy(request, response, next)
        return
      }
      log.warn({ err: error, request_id: context.requestId }, 'delivery unreachable')
      if (response.headersSent) response.destroy()
      else next(domainError('unavailable', 'SERVICE_UNAVAILABLE', 'delivery is unreachable; try again', 1))
    })
    void proxy(request, response, next)
  }
}

/** Headers that are hop-by-hop, that only proxies may set, or that delivery does not use. */
const DROPPED_HEADERS =
  /^(connection|proxy-.*|keep-alive|te|trailer|upgrade|expect|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|via|authorization|cookie)$/

function rewriteHeaders(headers: IncomingHttpHeaders, { address, requestId }: RequestContext): void {
  const close = /(^|,)\s*close\s*(,|$)/i.test(headers.connection ?? '')
  for (const name of Object.keys(headers)) if (DROPPED_HEADERS.test(name)) delete headers[name]
  headers.connection = close ? 'close' : 'keep-alive'
  headers['x-forwarded-for'] = address
  headers['x-request-id'] = requestId
  const traceparent = currentTraceparent()
  if (traceparent === undefined) delete headers[TRACEPARENT]
  else headers[TRACEPARENT] = traceparent
}

/** Returns whether delivery closed the connection, as opposed to a response that takes too long. */
function isConnectionClosed(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}

function limitFirstByte(outgoing: ClientRequest): void {
  const timer = setTimeout(() => outgoing.destroy(new Error('delivery did not respond in time')), FIRST_BYTE_TIMEOUT_MS)
  outgoing.once('response', () => clearTimeout(timer))
  outgoing.once('close', () => clearTimeout(timer))
}
