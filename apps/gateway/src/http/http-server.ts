import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { titleOf } from './problem.ts'

/** The body of a request is there by then; with the lingering, a slow caller is gone after 15 s. */
const BODY_MS = 13_000
const HEADERS_MS = 8_000
const LOOK_MS = 500
/** Nobody reads or writes for so long: a call that waits for its answer, the bytes of delivery apart. */
const SILENT_MS = 15_000
/** A caller takes nothing of its complete answer for so long; Node looks once, and cuts when nothing went out until it looks again. */
const TAKING_MS = 7_000

/** A server for the open network: bounded headers, bounded time, and a problem document for what is no HTTP at all. */
export function createHttpServer(listener: RequestListener, publicUrl: () => string): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      // Looked at with the other odd requests, whose answer says what is wrong.
      requireHostHeader: false,
      headersTimeout: HEADERS_MS,
      // Uploads take as long as they need, so the time of bodies is kept below.
      requestTimeout: 0,
      connectionsCheckingInterval: LOOK_MS,
      // Longer than the 60 s of most balancers, which otherwise meet a connection that has just been closed.
      keepAliveTimeout: 65_000,
    },
    listener,
  )
  server.timeout = SILENT_MS
  server.on('request', (request, response) => {
    const { socket } = request
    limitBody(request, () => {
      if (response.headersSent && !response.writableFinished) socket.destroy()
      else refuseConnection(Object.assign(new Error('too slow'), { code: TOO_SLOW }), socket, publicUrl())
    })
    // Requests that come one behind the other give no more time to take the answers before them.
    if (socket.timeout !== SILENT_MS && socket.writableLength === 0) socket.setTimeout(SILENT_MS)
    response.once('prefinish', () => {
      // Most answers are out by then.
      if (socket.writableLength === 0) return
      socket.setTimeout(TAKING_MS)
      response.once('finish', () => {
        if (socket.timeout === TAKING_MS && socket.writableLength === 0) socket.setTimeout(SILENT_MS)
      })
    })
  })
  // Expectations other than 100-continue mean nothing here.
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket, publicUrl()))
  return server
}

/** Requests whose body may take its time. */
const WAIVED = Symbol('waived')
type Sending = IncomingMessage & { [WAIVED]?: true }

function limitBody(request: Sending, cut: () => void): void {
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return
  // Most bodies come with their headers, and are there when this turn of the event loop is over.
  setImmediate(() => {
    if (request.complete || request.destroyed) return
    const timer = setTimeout(() => request.complete || request[WAIVED] || cut(), BODY_MS).unref()
    for (const event of ['end', 'close']) request.once(event, () => clearTimeout(timer))
  })
}

/** Lets the body of a request come for as long as anything comes. */
export function waiveRequestTime(request: Sending): void {
  request[WAIVED] = true
}

const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT'
const REFUSALS: Readonly<Record<string, { status: number; code: string; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large', detail: 'the headers have more than 16 KiB' },
  [TOO_SLOW]: { status: 408, code: 'request_timeout', detail: 'the request took too long to arrive' },
}
/** What is still on its way is read for so long, so that the refusal is not lost with a reset; then the connection is gone. */
const LINGER_MS = 1_000
const MALFORMED = { status: 400, code: 'bad_request', detail: 'this is not HTTP as it should be' }

function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex, publicUrl: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, code, detail } = REFUSALS[error.code ?? ''] ?? MALFORMED
  const requestId = randomUUID()
  const type = `${publicUrl}/docs#${code}`
  const body = JSON.stringify({ type, title: titleOf(code), status, detail, instance: '/', code, request_id: requestId })
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
