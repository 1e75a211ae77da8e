import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostAndPort } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { createHouseServer, type Identity, PRINCIPAL_HEADER, type Principal, readPrincipalHeader } from '@vitascope/grpc'
import type { Logger } from '@vitascope/telemetry'

/** A call of the gateway on behalf of a caller, by plain HTTP because it brings a file. */
export interface UploadCall {
  request: IncomingMessage
  response: ServerResponse
  /** Without the query. */
  path: string
  query: URLSearchParams
  principal: Principal
  requestId: string
  /** What generated addresses begin with. */
  publicUrl: string
  /** Aborts when the caller hangs up. */
  signal: AbortSignal
}

/** Answers a call, or answers false where the path is none of its own. */
export type UploadHandler = (call: UploadCall) => Promise<boolean>

export interface UploadListener {
  address: string
  stop(): Promise<void>
}

/** Nothing comes and nothing goes for so long: the caller is not there any more. */
const IDLE_MS = 60_000
const DRAIN_MS = 3_000

/**
 * Takes the bytes of uploads from the gateway. Everything must carry a signed principal. Refusals are told as JSON, in Base64 also in the
 * header `vitascope-refusal`; the gateway makes a problem document of them.
 */
export async function listenForUploads({
  listen,
  identity,
  principalKey,
  handlers,
  log,
}: {
  listen: string
  /** By mutual TLS with one, in plain text without. */
  identity?: Identity | undefined
  principalKey: Uint8Array
  handlers: readonly UploadHandler[]
  log: Logger
}): Promise<UploadListener> {
  const stopping = new AbortController()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const hangUp = new AbortController()
    request.on('error', () => {})
    response.once('close', () => response.writableFinished || hangUp.abort(new DOMException('the caller hung up', 'AbortError')))
    try {
      const { principal, requestId } = readPrincipalHeader(request.headers[PRINCIPAL_HEADER], principalKey)
      const url = new URL(request.url ?? '/', 'http://encoding')
      const publicUrl = String(request.headers['vitascope-public-url'] ?? '')
      const signal = AbortSignal.any([hangUp.signal, stopping.signal])
      const call = { request, response, path: url.pathname, query: url.searchParams, principal, requestId, publicUrl, signal }
      for (const handle of handlers) if (await handle(call)) return
      response.writeHead(404).end()
    } catch (error) {
      if (hangUp.signal.aborted || response.destroyed) return
      if (response.headersSent) response.destroy()
      else refuse(response, error, log)
    } finally {
      // The rest of what was refused goes by unread.
      request.resume()
    }
  }
  const times = { headersTimeout: 10_000, requestTimeout: 0, keepAliveTimeout: 30_000 }
  const server = createHouseServer(identity, times, (request, response) => {
    request.socket.setTimeout(IDLE_MS)
    void answer(request, response)
  })
  const { host, port } = hostAndPort(listen)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      stopping.abort(new DOMException('the service stops', 'AbortError'))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(timer)
    },
  }
}

/** What was broken off by us can be tried again. */
function refuse(response: ServerResponse, error: unknown, log: Logger): void {
  const isBrokenOff = error instanceof DOMException && error.name === 'AbortError'
  const told = isDomainError(error)
    ? { kind: error.kind, reason: error.reason, message: error.message, fields: error.fields, retryAfter: error.retryAfter }
    : isBrokenOff
      ? { kind: 'unavailable', reason: 'SERVICE_UNAVAILABLE', message: 'the upload was broken off: try again', fields: [], retryAfter: 1 }
      : undefined
  if (!told) log.error({ err: error }, 'an upload failed')
  const body = JSON.stringify(told ?? {})
  response.writeHead(told ? 400 : 500, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    // There, too, where an answer has no body.
    'vitascope-refusal': Buffer.from(body).toString('base64'),
    Connection: 'close',
  })
  response.end(body)
}
