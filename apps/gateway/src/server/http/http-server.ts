import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { problemDocument } from './problem.ts'

/**
 * Time limit for a request body. With `LINGER_MS` and the check interval, a slow client is
 * disconnected within 15 s.
 */
const BODY_TIMEOUT_MS = 13_000
const HEADERS_TIMEOUT_MS = 8_000
const CHECK_INTERVAL_MS = 500
/**
 * Idle timeout of a connection, which also covers a call that waits for its response. The delivery and
 * upload proxies set a longer one.
 */
const IDLE_TIMEOUT_MS = 15_000
/**
 * How long a client may read nothing of a complete response. Node checks once per interval and
 * disconnects if nothing was written since the last check.
 */
const STALLED_READ_TIMEOUT_MS = 7_000

/**
 * Creates an HTTP server for the open network. Headers and times are bounded, and malformed HTTP is
 * answered with a problem document.
 */
export function createHttpServer(listener: RequestListener, publicUrl: () => string): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      // `rejectAmbiguousRequests` checks the header and answers with a message that names the
      // error.
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Uploads have no time limit, so the limit for bodies is enforced in `limitBody`.
      requestTimeout: 0,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // Longer than the 60 s of most load balancers, which could otherwise reuse a connection that
      // was just closed.
      keepAliveTimeout: 65_000,
    },
    listener,
  )
  server.timeout = IDLE_TIMEOUT_MS
  server.on('request', (request, response) => {
    const { socket } = request
    limitBody(request, () => {
      if (response.headersSent && !response.writableFinished) socket.destroy()
      else rejectConnection(Object.assign(new Error('too slow'), { code: TOO_SLOW }), socket, publicUrl())
    })
    // Pipelined requests do not extend the time to read the responses before them.
    if (socket.timeout !== IDLE_TIMEOUT_MS && socket.writableLength === 0) socket.setTimeout(IDLE_TIMEOUT_MS)
    response.once('prefinish', () => {
      // Most responses are fully written by then.
      if (socket.writableLength === 0) return
      socket.setTimeout(STALLED_READ_TIMEOUT_MS)
      response.once('finish', () => {
        if (socket.timeout === STALLED_READ_TIMEOUT_MS && socket.writableLength === 0) socket.setTimeout(IDLE_TIMEOUT_MS)
      })
    })
  })
  // Expectations other than 100-continue are ignored.
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => rejectConnection(error, socket, publicUrl()))
  return server
}

/** Marks requests that are exempt from the time limit for bodies. */
const NO_TIME_LIMIT = Symbol('no time limit')
type LimitedRequest = IncomingMessage & { [NO_TIME_LIMIT]?: true }

function limitBody(request: LimitedRequest, onTimeout: () => void): void {
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return
  // Most bodies arrive with their headers and are complete after this turn of the event loop.
  setImmediate(() => {
    if (request.complete || request.destroyed) return
    const timer = setTimeout(() => request.complete || request[NO_TIME_LIMIT] || onTimeout(), BODY_TIMEOUT_MS).unref()
    for (const event of ['end', 'close']) request.once(event, () => clearTimeout(timer))
  })
}

/**
 * Exempts a request from the time limit for bodies. The idle timeout of the connection still
 * applies.
 */
export function disableBodyTimeout(request: LimitedRequest): void {
  request[NO_TIME_LIMIT] = true
}

const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT'
const PARSE_ERRORS: Readonly<Record<string, { status: number; code: string; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', detail: 'the headers have more than 16 KiB' },
  [TOO_SLOW]: { status: 408, code: 'request_timeout', detail: 'the request took too long to arrive' },
}
/**
 * How long to keep reading after a rejection, so that a TCP reset does not discard the response.
 * Then the connection is closed.
 */
const LINGER_MS = 1_000
const MALFORMED = { status: 400, code: 'bad_request', detail: 'malformed HTTP request' }

function rejectConnection(error: NodeJS.ErrnoException, socket: Duplex, publicUrl: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, detail } = PARSE_ERRORS[error.code ?? ''] ?? MALFORMED
  const requestId = randomUUID()
  const body = JSON.stringify(problemDocument(publicUrl, { status, code, detail, instance: '/', requestId }))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
