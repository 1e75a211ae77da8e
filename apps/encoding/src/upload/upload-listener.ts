import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostAndPort } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { createPlatformServer, type Identity, type Principal, type PrincipalKeys, readPrincipalHeaders } from '@vitascope/grpc'
import { drainServer } from '@vitascope/process'
import { type Logger, readTraceparent, type SpanDescription, tracedFrom } from '@vitascope/telemetry'

/** A call of the gateway on behalf of a caller. It uses plain HTTP because it carries a file. */
export interface UploadCall {
  request: IncomingMessage
  response: ServerResponse
  /** Path without the query. */
  path: string
  query: URLSearchParams
  principal: Principal
  requestId: string
  /** Address of the client, as determined by the gateway. */
  client: string
  /** Prefix of generated URLs. */
  publicUrl: string
  /** Aborts when the caller disconnects. */
  signal: AbortSignal
}

/** Handles a call, or returns false if the path belongs to another handler. */
export type UploadHandler = (call: UploadCall) => Promise<boolean>

export interface UploadListener {
  address: string
  stop(): Promise<void>
}

/** Time without bytes in either direction after which the connection is closed. */
const IDLE_MS = 60_000
const DRAIN_MS = 3_000

/**
 * Starts the server that receives uploads from the gateway. Every call requires a signed principal.
 * Errors are sent as JSON, and in Base64 in the header `vitascope-error`. The gateway converts
 * them to problem documents.
 */
export async function listenForUploads({
  listen,
  identity,
  principals,
  handlers,
  log,
}: {
  listen: string
  /** Enables mutual TLS. Undefined for plain text. */
  identity?: Identity | undefined
  principals: PrincipalKeys
  handlers: readonly UploadHandler[]
  log: Logger
}): Promise<UploadListener> {
  const stopping = new AbortController()
  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const disconnect = new AbortController()
    request.on('error', () => {})
    response.once(
      'close',
      () => response.writableFinished || disconnect.abort(new DOMException('the caller cancelled the call', 'AbortError')),
    )
    try {
      const { principal, requestId } = await readPrincipalHeaders(request.headers, principals, ['gateway'])
      const url = new URL(request.url ?? '/', 'http://encoding')
      const publicUrl = String(request.headers['vitascope-public-url'] ?? '')
      const signal = AbortSignal.any([disconnect.signal, stopping.signal])
      const client = String(request.headers['x-forwarded-for'] ?? '')
      const call = { request, response, path: url.pathname, query: url.searchParams, principal, requestId, client, publicUrl, signal }
      const handleCall = async () => {
        for (const handle of handlers) if (await handle(call)) return
        response.writeHead(404).end()
      }
      await tracedFrom(readTraceparent(request), () => describeUpload(request), handleCall)
    } catch (error) {
      if (disconnect.signal.aborted || response.destroyed) return
      if (response.headersSent) response.destroy()
      else sendError(response, error, log)
    } finally {
      // Discards the rest of a rejected request.
      request.resume()
    }
  }
  const times = { headersTimeout: 10_000, requestTimeout: 0, keepAliveTimeout: 30_000 }
  const server = createPlatformServer(identity, times, (request, response) => {
    request.socket.setTimeout(IDLE_MS)
    void handleRequest(request, response)
  })
  const { host, port } = hostAndPort(listen)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      await drainServer(server, DRAIN_MS)
    },
  }
}

/** Paths contain tokens, so only the first part of a path is named. */
function describeUpload({ method = '', url = '' }: IncomingMessage): SpanDescription {
  const route = /^\/[a-z]+/.exec(url)?.[0] ?? '/'
  return { name: `${method} ${route}`, kind: 'server', attributes: { 'http.request.method': method, 'http.route': route } }
}

/**
 * Sends an error. The error of a call that this service aborted is SERVICE_UNAVAILABLE, because it
 * can be retried.
 */
function sendError(response: ServerResponse, error: unknown, log: Logger): void {
  const isAborted = error instanceof DOMException && error.name === 'AbortError'
  const problem = isDomainError(error)
    ? { kind: error.kind, reason: error.reason, message: error.message, fields: error.fields, retryAfter: error.retryAfter }
    : isAborted
      ? { kind: 'unavailable', reason: 'SERVICE_UNAVAILABLE', message: 'the upload was interrupted; try again', fields: [], retryAfter: 1 }
      : undefined
  if (!problem) log.error({ err: error }, 'upload failed')
  const body = JSON.stringify(problem ?? {})
  response.writeHead(problem ? 400 : 500, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    // A header repeats the problem, for responses without a body.
    'vitascope-error': Buffer.from(body).toString('base64'),
    // No `Connection: close`: closing while the gateway still sends would reset the connection, and
    // the response could be lost. The gateway closes it.
  })
  response.end(body)
}
