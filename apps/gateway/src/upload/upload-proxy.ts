import type { IncomingMessage, ServerResponse } from 'node:http'
import { DomainError, type FieldError, type RefusalKind } from '@vitascope/errors'
import { type HttpService, PRINCIPAL_HEADER, type Principal, signPrincipal } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { exchangeOf } from '../http/exchange.ts'
import { waiveRequestTime } from '../http/http-server.ts'
import { refusal } from '../http/problem.ts'

/** Hands a request on to encoding, body and all, on behalf of a caller; rejects with what encoding refused. */
export type UploadProxy = (request: IncomingMessage, response: ServerResponse, to: { path: string; principal: Principal }) => Promise<void>

/** Nothing comes and nothing goes for so long. */
const IDLE_MS = 60_000

/** Bodies go through as they come: nothing of a file is kept here. */
export function createUploadProxy({
  to: { origin, agent },
  principalKey,
  publicUrl,
  log,
}: {
  to: HttpService
  principalKey: Uint8Array
  publicUrl: () => string
  log: Logger
}): UploadProxy {
  const waiting = new WeakMap<object, { done: () => void; fail: (error: unknown) => void }>()
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: origin,
    ...(agent && { agent }),
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [
      (server) => {
        server.on('proxyRes', (answer, _request, response) => {
          const { done, fail } = waiting.get(response) ?? {}
          if (!done || !fail) return
          const refused = answer.headers['vitascope-refusal']
          if (typeof refused === 'string') {
            answer.resume()
            fail(readRefusal(refused))
          } else passBack(answer, response, done)
        })
        server.on('error', (error, _request, response) => response && waiting.get(response)?.fail(unreachable(error)))
        // The caller is gone.
        server.on('econnreset', (_error, _request, response) => waiting.get(response)?.done())
      },
    ],
  })
  const unreachable = (error: unknown) => {
    log.warn({ err: error }, 'encoding takes no uploads')
    return refusal('unavailable', 'SERVICE_UNAVAILABLE', 'uploads are not to be had just now: try again', 1)
  }

  return async (request, response, { path, principal }) => {
    const { requestId, address } = exchangeOf(response)
    const signed = signPrincipal({ principal, requestId }, principalKey)
    if (response.destroyed) return
    const hasBody = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined
    for (const name of Object.keys(request.headers)) if (!PASSED_ON.test(name)) delete request.headers[name]
    Object.assign(request.headers, {
      [PRINCIPAL_HEADER]: signed,
      'vitascope-public-url': publicUrl(),
      'x-forwarded-for': address,
      connection: 'keep-alive',
    })
    request.url = path
    // The version that is spoken here, too, for whoever came with another one.
    if (path.startsWith('/tus')) response.setHeader('Tus-Resumable', '1.0.0').setHeader('Tus-Version', '1.0.0')
    waiveRequestTime(request)
    request.socket.setTimeout(IDLE_MS)
    try {
      await new Promise<void>((resolve, reject) => {
        waiting.set(response, { done: resolve, fail: reject })
        response.once('close', resolve)
        void proxy(request, response, reject)
      })
    } catch (error) {
      // What is still on its way is not waited for.
      if (hasBody && !request.complete) response.setHeader('Connection', 'close')
      request.unpipe()
      request.resume()
      throw error
    }
  }
}

/** What an upload is about; all else is between caller and gateway. */
const PASSED_ON = /^(content-type|content-length|transfer-encoding|tus-resumable|upload-[a-z-]+)$/
const PASSED_BACK =
  /^(content-type|content-length|content-disposition|content-security-policy|x-content-type-options|cache-control|etag|location|tus-[a-z-]+|upload-[a-z-]+|x-job-id|x-video-id)$/

function passBack(answer: IncomingMessage, response: ServerResponse, done: () => void): void {
  response.statusCode = answer.statusCode ?? 500
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && PASSED_BACK.test(name)) response.setHeader(name, value)
  }
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  answer.once('error', () => response.destroy())
  answer.pipe(response).once('finish', done)
}

function readRefusal(header: string): Error {
  const told = JSON.parse(Buffer.from(header, 'base64').toString()) as Partial<Refusal>
  if (told.kind === undefined || told.reason === undefined) return new Error('encoding failed to take an upload: its log says why')
  const { kind, reason, message = '', fields = [], retryAfter } = told
  return new DomainError(kind, reason, message, { fields, ...(retryAfter !== undefined && { retryAfter }) })
}

/** As encoding writes it. */
interface Refusal {
  kind: RefusalKind
  reason: string
  message: string
  fields: FieldError[]
  retryAfter?: number
}
