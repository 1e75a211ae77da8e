import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { unescape as unescapePercents } from 'node:querystring'
import { SourceError } from './source-error.ts'

/** A proxy for HTTP/1.1 that is reached without TLS. */
export interface SourceProxy {
  host: string
  port: number
  /** Value of `Proxy-Authorization`. */
  authorization: string | undefined
}

const DEFAULT_PORT = 80
const CONNECT_TIMEOUT_MS = 10_000
/** Time in which the proxy must open a connection to the source. */
const TUNNEL_TIMEOUT_MS = 30_000

const agent = new Agent({ keepAlive: false })

/** Returns the problem of the URL of a proxy, or undefined if it is valid. */
export function checkProxy(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isValid = url?.protocol === 'http:' && url.pathname === '/' && url.search === '' && url.hash === '' && url.port !== '0'
  return isValid ? undefined : 'must be a URL such as http://proxy:3128 or http://user:password@proxy:3128'
}

/** Parses the URL of a proxy. Throws if it is invalid; the message does not contain it. */
export function parseProxy(text: string): SourceProxy {
  const problem = checkProxy(text)
  if (problem) throw new Error(`the URL of the proxy ${problem}`)
  const { hostname, port, username, password } = new URL(text)
  const user = `${unescapePercents(username)}:${unescapePercents(password)}`
  return {
    host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? DEFAULT_PORT : Number(port),
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

/** Returns the headers that only the proxy reads. */
export function proxyHeaders({ authorization }: SourceProxy): Record<string, string> {
  return authorization === undefined ? {} : { 'proxy-authorization': authorization }
}

/**
 * Opens a connection to `authority` (`HOST:PORT`) through a proxy by the method CONNECT. Throws a `SourceError`, or the
 * reason of the signal.
 */
export function openTunnel(proxy: SourceProxy, authority: string, signal: AbortSignal): Promise<Socket> {
  const { host, port } = proxy
  const headers = { host: authority, ...proxyHeaders(proxy) }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ method: 'CONNECT', agent, host, port, path: authority, headers, signal })
    const connecting = setTimeout(() => request.destroy(new Error('no connection')), CONNECT_TIMEOUT_MS)
    const waiting = setTimeout(() => request.destroy(new Error('no response')), TUNNEL_TIMEOUT_MS)
    request.once('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)))
    request.once('connect', (response, socket, head) => {
      const { statusCode = 0 } = response
      // The source must not send anything before the TLS handshake.
      if (statusCode >= 200 && statusCode < 300 && head.length === 0) return resolve(socket)
      socket.destroy()
      reject(proxyRejection(response, authority))
    })
    request.on('error', (error) => reject(signal.aborted ? signal.reason : proxyFault(error)))
    request.once('close', () => {
      clearTimeout(connecting)
      clearTimeout(waiting)
      // The proxy closed the connection without a response, or sent a malformed one.
      reject(proxyFault(new Error('the connection was closed without a response')))
    })
    request.end()
  })
}

/** Returns the error for a proxy that cannot be reached. Its name is not part of the message, because it is internal. */
export function proxyFault(cause: unknown): SourceError {
  return new SourceError(4001, 'the proxy for sources could not be reached, or cut the connection', { cause, transient: true })
}

/** Returns the error for a status of the proxy itself. */
export function proxyRejection({ statusCode: status = 0 }: IncomingMessage, authority: string): SourceError {
  if (status === 407) return new SourceError(4001, 'the proxy for sources requires another user or password', { status })
  const transient = status >= 500 || status === 429
  return new SourceError(4001, `the proxy for sources responded with status ${status} for ${authority}`, { status, transient })
}
