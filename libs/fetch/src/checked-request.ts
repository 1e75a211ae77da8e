import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { ALLOWED_ADDRESS, checkUrl, getHost } from './check-url.ts'
import { isForbiddenAddress } from './forbidden-address.ts'
import { isInternalName } from './internal-name.ts'
import { parseIpLiteral } from './ip-literal.ts'
import type { SourcePolicy } from './policy.ts'
import { openTunnel, proxyFault, proxyHeaders, proxyRejection, type SourceProxy } from './proxy.ts'
import { isSourceError, networkFault, noSuchHost, SourceError } from './source-error.ts'

// Maximum number of addresses of a name to try. If all fail, the host counts as unreachable.
const MAX_ADDRESSES = 4
const CONNECT_TIMEOUT_MS = 10_000
const RESPONSE_TIMEOUT_MS = 30_000

// These agents open one connection for each request. They never use a proxy from the environment,
// which would resolve names itself.
const httpAgent = new HttpAgent({ keepAlive: false })
const httpsAgent = new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 })

/** Headers and body of a request. The request is a POST if it has a body, else a GET. */
export interface RequestContent {
  headers: Readonly<Record<string, string>>
  body?: string
}

/**
 * Sends one request to one URL without following redirects. Checks the URL, resolves its name,
 * checks every address, and connects to a checked address, so no second look-up can return another
 * address. With a proxy, only the URL is checked, and the proxy resolves the name. Throws a `SourceError`, or the reason of the signal.
 */
export async function sendCheckedRequest(
  text: string,
  content: RequestContent,
  policy: SourcePolicy,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  signal.throwIfAborted()
  const [problem] = checkUrl(text, policy)
  if (problem) throw new SourceError(4004, `the source or a redirect of it is not allowed: its URL ${problem}`)
  const url = new URL(text)
  if (policy.proxy) return sendThroughProxy(policy.proxy, url, content, signal)
  const addresses = await resolveAllowedAddresses(getHost(url), policy, signal)
  let fault: unknown
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      return await sendRequest(directConnection(address, url), url, content, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isSourceError(error)) throw error
      fault = error
    }
  }
  throw networkFault(url.hostname, fault)
}

/**
 * Returns the addresses of a host. Throws if any of them is forbidden, because a name with public
 * and forbidden addresses is an attack. An internal name that does not exist causes the same error
 * as a forbidden address, so that no caller can discover hosts of this machine's network.
 */
async function resolveAllowedAddresses(host: string, policy: SourcePolicy, signal: AbortSignal): Promise<readonly string[]> {
  const isInternal = !parseIpLiteral(host) && isInternalName(host)
  const addresses = parseIpLiteral(host) ? [host] : await resolveHost(host, { policy, isInternal }, signal)
  if (addresses.length === 0 && !isInternal) throw noSuchHost(host)
  if (addresses.length === 0 || addresses.some((address) => isForbiddenAddress(address, policy))) {
    throw new SourceError(4004, `${host} must have ${ALLOWED_ADDRESS}`)
  }
  return addresses
}

/**
 * Resolves a host and stops waiting when the signal aborts, because not every look-up can be
 * cancelled.
 */
async function resolveHost(
  host: string,
  { policy, isInternal }: { policy: SourcePolicy; isInternal: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([policy.resolve(host, signal), aborted.promise])
  } catch (error) {
    signal.throwIfAborted()
    const fault = networkFault(host, error)
    // Without allowed networks no internal name may be called, whatever the name server would
    // return later.
    if (isInternal && (!fault.transient || policy.allow.length === 0)) return []
    throw fault
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** How a request reaches its source. */
interface Connection {
  options: RequestOptions
  /** Absolute URL for a proxy; by default, path and query. */
  target?: string
  /** Headers for a proxy. */
  headers?: Record<string, string>
}

function directConnection(address: string, url: URL): Connection {
  const isSecure = url.protocol === 'https:'
  const options = { agent: isSecure ? httpsAgent : httpAgent, host: address, port: url.port || (isSecure ? 443 : 80) }
  return { options: { ...options, ...tlsName(url) } }
}

/** Returns the name for the TLS handshake. Addresses have none. */
function tlsName(url: URL): { servername?: string } {
  const host = getHost(url)
  return parseIpLiteral(host) ? {} : { servername: host.replace(/\.$/, '') }
}

/**
 * Sends a request through a proxy: by CONNECT for https, which the source answers with its own certificate, and by the
 * absolute URL for http. Names of private networks are rejected, because their addresses are unknown here.
 */
async function sendThroughProxy(proxy: SourceProxy, url: URL, content: RequestContent, signal: AbortSignal): Promise<IncomingMessage> {
  const host = getHost(url)
  if (!parseIpLiteral(host) && isInternalName(host)) throw new SourceError(4004, `${host} must have ${ALLOWED_ADDRESS}`)
  if (url.protocol === 'https:') {
    const authority = `${url.hostname}:${url.port || 443}`
    const socket = await openTunnel(proxy, authority, signal)
    const createConnection = () => connectTls({ socket, host, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...tlsName(url) })
    try {
      return await sendRequest({ options: { createConnection } }, url, content, signal)
    } catch (error) {
      socket.destroy()
      signal.throwIfAborted()
      throw isSourceError(error) ? error : networkFault(url.hostname, error)
    }
  }
  const target = `${url.origin}${url.pathname}${url.search}`
  const options = { agent: httpAgent, host: proxy.host, port: proxy.port }
  let response: IncomingMessage
  try {
    response = await sendRequest({ options, target, headers: proxyHeaders(proxy) }, url, content, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw isSourceError(error) ? error : proxyFault(error)
  }
  if (response.statusCode !== 407) return response
  response.destroy()
  throw proxyRejection(response, url.host)
}

function sendRequest(connection: Connection, url: URL, { headers, body }: RequestContent, signal: AbortSignal): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    ...connection.options,
    method: body === undefined ? 'GET' : 'POST',
    path: connection.target ?? url.pathname + url.search,
    headers: { ...headers, ...length, host: url.host, ...connection.headers },
    signal,
    rejectUnauthorized: true,
  }
  return new Promise((resolve, reject) => {
    const request = isSecure ? httpsRequest(options) : httpRequest(options)
    let isConnected = false
    const connecting = setTimeout(() => request.destroy(new Error('no connection')), CONNECT_TIMEOUT_MS)
    const waiting = setTimeout(() => request.destroy(new Error('no response')), RESPONSE_TIMEOUT_MS)
    const onConnect = () => {
      isConnected = true
      clearTimeout(connecting)
    }
    request.once('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', onConnect))
    request.once('response', (result) => {
      clearTimeout(waiting)
      resolve(result)
    })
    // The next address is tried only if no connection was made. The listener stays for the lifetime
    // of the request: the request may fail again after the response has started, and the response
    // reports that error itself.
    request.on('error', (error) => reject(isConnected ? networkFault(url.hostname, error) : error))
    request.once('close', () => {
      clearTimeout(connecting)
      clearTimeout(waiting)
      // The connection closed without a response or an error, which happens if the server switches
      // protocols.
      reject(networkFault(url.hostname, new Error('the connection was closed without a response')))
    })
    request.end(body)
  })
}
