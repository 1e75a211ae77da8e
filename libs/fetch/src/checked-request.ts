import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { ALLOWED_ADDRESS, checkUrl, getHost } from './check-url.ts'
import { isForbiddenAddress } from './forbidden-address.ts'
import { isInternalName } from './internal-name.ts'
import { parseIpLiteral } from './ip-literal.ts'
import type { SourcePolicy } from './policy.ts'
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
 * address. Throws a `SourceError`, or the reason of the signal.
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
  const addresses = await resolveAllowedAddresses(getHost(url), policy, signal)
  let fault: unknown
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      return await requestTo(address, url, content, signal)
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

function requestTo(address: string, url: URL, { headers, body }: RequestContent, signal: AbortSignal): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  const host = getHost(url)
  const options: RequestOptions & { servername?: string; rejectUnauthorized: boolean } = {
    method: body === undefined ? 'GET' : 'POST',
    agent: isSecure ? httpsAgent : httpAgent,
    host: address,
    port: url.port || (isSecure ? 443 : 80),
    path: url.pathname + url.search,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }), host: url.host },
    signal,
    rejectUnauthorized: true,
    ...(parseIpLiteral(host) ? {} : { servername: host.replace(/\.$/, '') }),
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
