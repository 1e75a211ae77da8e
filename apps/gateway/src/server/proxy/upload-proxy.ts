import { type ClientRequest, globalAgent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { DomainError, type ErrorKind, type FieldError } from '@vitascope/errors'
import { type HttpService, type Principal, type PrincipalKeys, principalHeaders } from '@vitascope/grpc'
import { type CutReason, downloadProgress, type TransferLimiter, uploadProgress } from '@vitascope/process'
import { toWidestNetwork } from '@vitascope/security'
import type { Logger } from '@vitascope/telemetry'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { disableBodyTimeout } from '../http/http-server.ts'
import { domainError } from '../http/problem.ts'
import { requestContext } from '../http/request-context.ts'
import { hasBody } from '../payload/body.ts'
import { MIN_BYTES_PER_SECOND } from './transfers.ts'

/**
 * Proxies a request with its body to encoding on behalf of a caller. Rejects with encoding's error. With `onStored`, which
 * receives the headers of encoding's response, nothing is sent to the client.
 */
export type UploadProxy = (request: IncomingMessage, response: ServerResponse, to: ProxiedUpload) => Promise<void>

interface ProxiedUpload {
  path: string
  principal: Principal
  onStored?: (headers: IncomingHttpHeaders) => void
}

/** Idle timeout in both directions. */
export const IDLE_TIMEOUT_MS = 60_000

/**
 * Creates the upload proxy. Bodies are streamed and never stored here. Transfers below the minimum
 * rate are aborted.
 */
export function createUploadProxy({
  to: { origin, agent },
  transfers: { uploads, downloads },
  principals,
  publicUrl,
  log,
}: {
  to: HttpService
  transfers: { uploads: TransferLimiter; downloads: TransferLimiter }
  principals: PrincipalKeys
  publicUrl: () => string
  log: Logger
}): UploadProxy {
  const pending = new WeakMap<object, ForwardedUpload>()
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: origin,
    // The default agent of the proxy has at most 256 connections, and further uploads would wait without a time limit.
    agent: agent ?? globalAgent,
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (outgoing, _request, response) => {
          const forwarded = pending.get(response)
          if (forwarded) forwarded.outgoing = outgoing
          else outgoing.destroy()
        })
        server.on('proxyRes', (incoming, request, response) => {
          const { done, fail, outgoing, onStored } = pending.get(response) ?? {}
          if (!done || !fail) return
          const rejection = incoming.headers['vitascope-error']
          if (typeof rejection === 'string') {
            fail(parseRejection(rejection))
            // The header contains the complete error, so the rest of the body is not sent to encoding.
            outgoing?.destroy()
          } else if (onStored) {
            onStored(incoming.headers)
            incoming.resume().once('end', done).once('error', fail)
          } else {
            // The rest of the body is not read.
            if (!request.complete) response.setHeader('Connection', 'close')
            returnResponse(incoming, response, done)
          }
        })
        server.on('error', (error, _request, response) => response && pending.get(response)?.fail(unreachable(error)))
        // The client disconnected.
        server.on('econnreset', (_error, _request, response) => pending.get(response)?.done())
      },
    ],
  })
  const unreachable = (error: unknown) => {
    log.warn({ err: error }, 'forwarding an upload to encoding failed')
    return domainError('unavailable', 'SERVICE_UNAVAILABLE', 'uploads are temporarily unavailable; try again', 1)
  }

  return async (request, response, { path, principal, onStored }) => {
    const { requestId, address } = requestContext(response)
    const signed = await principalHeaders({ principal, requestId }, principals, 'encoding')
    if (response.destroyed) return
    const isUpload = hasBody(request)
    for (const name of Object.keys(request.headers)) if (!FORWARDED_HEADERS.test(name)) delete request.headers[name]
    Object.assign(request.headers, {
      ...signed,
      'vitascope-public-url': publicUrl(),
      'x-forwarded-for': address,
      connection: 'keep-alive',
    })
    request.url = path
    // The supported tus version, also for clients that requested another one.
    if (/^\/(tus|ticket)\b/.test(path)) response.setHeader('Tus-Resumable', '1.0.0').setHeader('Tus-Version', '1.0.0')
    disableBodyTimeout(request)
    request.socket.setTimeout(IDLE_TIMEOUT_MS)
    let end = () => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const forwarded: ForwardedUpload = {
          ...(onStored && { onStored }),
          done: resolve,
          fail: (error) => {
            pending.delete(response)
            reject(error)
          },
        }
        pending.set(response, forwarded)
        response.once('close', resolve)
        const client = toWidestNetwork(address)
        const cut = (reason: CutReason) => {
          forwarded.fail(cutError(reason))
          forwarded.outgoing?.destroy()
          if (response.headersSent) response.destroy()
        }
        if (isUpload) end = uploads.begin({ client, ...uploadProgress(request), cut })
        else if (request.method === 'GET') end = downloads.begin({ client, ...downloadProgress(response), cut })
        void proxy(request, response, reject)
      })
    } catch (error) {
      // The rest of the body is not awaited.
      if (isUpload && !request.complete && !response.headersSent) response.setHeader('Connection', 'close')
      request.unpipe()
      request.resume()
      if (!response.destroyed) throw error
    } finally {
      end()
    }
  }
}

/**
 * A request that waits for encoding. `outgoing` is set once the request to encoding has a
 * connection.
 */
interface ForwardedUpload {
  done: () => void
  fail: (error: unknown) => void
  outgoing?: ClientRequest
  onStored?: (headers: IncomingHttpHeaders) => void
}

/** Returns the error for an upload that was cut. */
export function cutError(reason: CutReason): DomainError {
  if (reason === 'displaced') return domainError('unavailable', 'OVERLOADED', 'too many uploads are active; try again', 1)
  return domainError('invalid', 'REQUEST_TIMEOUT', `the upload is slower than ${MIN_BYTES_PER_SECOND} bytes a second`)
}

/** Request headers that concern the upload. All others stay between client and gateway. */
const FORWARDED_HEADERS = /^(content-type|content-length|transfer-encoding|idempotency-key|tus-resumable|upload-[a-z-]+)$/
const RETURNED_HEADERS =
  /^(content-type|content-length|content-disposition|content-security-policy|x-content-type-options|cache-control|etag|location|tus-[a-z-]+|upload-[a-z-]+|x-job-id|x-video-id)$/

function returnResponse(incoming: IncomingMessage, response: ServerResponse, done: () => void): void {
  response.statusCode = incoming.statusCode ?? 500
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined && RETURNED_HEADERS.test(name)) response.setHeader(name, value)
  }
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  incoming.once('error', () => response.destroy())
  incoming.pipe(response).once('finish', done)
}

/** Returns the error in the header `vitascope-error` of encoding's response. */
export function parseRejection(header: string): Error {
  const rejection = JSON.parse(Buffer.from(header, 'base64').toString()) as Partial<Rejection>
  if (rejection.kind === undefined || rejection.reason === undefined)
    return new Error('encoding rejected the upload without a reason; see its log')
  const { kind, reason, message = '', fields = [], retryAfter } = rejection
  return new DomainError(kind, reason, message, { fields, ...(retryAfter !== undefined && { retryAfter }) })
}

/** Encoding's serialised error. */
interface Rejection {
  kind: ErrorKind
  reason: string
  message: string
  fields: FieldError[]
  retryAfter?: number
}
