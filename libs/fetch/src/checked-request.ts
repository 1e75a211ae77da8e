import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { checkUrl, hostOf } from './check-url.ts'
import { isForbiddenAddress } from './forbidden-address.ts'
import { parseLiteral } from './literal.ts'
import type { SourcePolicy } from './policy.ts'
import { isSourceError, networkFault, SourceError } from './source-error.ts'

// A name may have many addresses; beyond these the host counts as down.
const mostAddresses = 4
const connectMs = 10_000
const firstByteMs = 30_000

// Agents of our own: one connection a request, and never a proxy from the environment, which would resolve names for itself.
const httpAgent = new HttpAgent({ keepAlive: false })
const httpsAgent = new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 })

/** What is asked: a GET, or with a body a POST. */
export interface Asked {
  headers: Readonly<Record<string, string>>
  body?: string
}

/**
 * One request to one URL, without following anything. The URL is checked, its name resolved, every address of it checked, and the connection
 * made to an address that was checked: no second look-up can lead elsewhere.
 */
export async function checkedRequest(text: string, asked: Asked, policy: SourcePolicy, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted()
  const [problem] = checkUrl(text, policy)
  if (problem) throw new SourceError(4004, `the source or a redirect of it is not allowed: its URL ${problem}`)
  const url = new URL(text)
  const addresses = await checkedAddresses(hostOf(url), policy, signal)
  let fault: unknown
  for (const address of addresses.slice(0, mostAddresses)) {
    try {
      return await requestTo(address, url, asked, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (isSourceError(error)) throw error
      fault = error
    }
  }
  throw networkFault(url.hostname, fault)
}

/** One forbidden address among them refuses them all: a name that means both is a trick. */
async function checkedAddresses(host: string, policy: SourcePolicy, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = parseLiteral(host) ? [host] : await resolved(host, policy, signal)
  if (addresses.length === 0) throw new SourceError(4001, `there is no host named ${host}`)
  if (addresses.some((address) => isForbiddenAddress(address, policy))) {
    throw new SourceError(4004, `${host} leads to an address that is not public`)
  }
  return addresses
}

/** Not every look-up can be cancelled; all can be left. */
async function resolved(host: string, policy: SourcePolicy, signal: AbortSignal): Promise<readonly string[]> {
  const left = Promise.withResolvers<never>()
  const leave = () => left.reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([policy.resolve(host, signal), left.promise])
  } catch (error) {
    signal.throwIfAborted()
    throw networkFault(host, error)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function requestTo(address: string, url: URL, { headers, body }: Asked, signal: AbortSignal): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:'
  const host = hostOf(url)
  const options: RequestOptions & { servername?: string; rejectUnauthorized: boolean } = {
    method: body === undefined ? 'GET' : 'POST',
    agent: isSecure ? httpsAgent : httpAgent,
    host: address,
    port: url.port || (isSecure ? 443 : 80),
    path: url.pathname + url.search,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }), host: url.host },
    signal,
    rejectUnauthorized: true,
    ...(parseLiteral(host) ? {} : { servername: host.replace(/\.$/, '') }),
  }
  return new Promise((resolve, reject) => {
    const request = isSecure ? httpsRequest(options) : httpRequest(options)
    let isConnected = false
    const connecting = setTimeout(() => request.destroy(new Error('no connection')), connectMs)
    const waiting = setTimeout(() => request.destroy(new Error('no answer')), firstByteMs)
    const onConnect = () => {
      isConnected = true
      clearTimeout(connecting)
    }
    request.once('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', onConnect))
    request.once('response', (answer) => {
      clearTimeout(waiting)
      resolve(answer)
    })
    // Another address is worth a try only while none has been reached. Heard for as long as the request lives: it may fail
    // again after the answer began, which the answer then tells.
    request.on('error', (error) => reject(isConnected ? networkFault(url.hostname, error) : error))
    request.once('close', () => {
      clearTimeout(connecting)
      clearTimeout(waiting)
      // Without an answer and without an error: so ends what switches to another protocol, which nobody asked for.
      reject(networkFault(url.hostname, new Error('the connection was closed without an answer')))
    })
    request.end(body)
  })
}
