import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressRules, addressAllowed, normaliseAddress } from '@vitascope/access'

/** What is known of a request while it is answered. */
export interface Exchange {
  requestId: string
  /** Who asks, through the trusted proxies. */
  address: string
  /** The path as the table has it, for logs and metrics: paths themselves hold keys and passwords. */
  template: string
  /** The path as problems show it: without anything that could be a secret. */
  instance: () => string
  /** The key that counts, by its id. */
  keyId: string | undefined
  /** Texts of the request that no answer may repeat. */
  secrets: string[]
  /** `performance.now()` at the start. */
  startedAt: number
}

export const NO_ROUTE = '(no route)'

/** Where an answer keeps what is known of its request. */
const EXCHANGE = Symbol('exchange')
type Answering = ServerResponse & { [EXCHANGE]?: Exchange }

export function beginExchange(request: IncomingMessage, response: Answering, trusted: AddressRules): Exchange {
  const exchange: Exchange = {
    requestId: requestId(request),
    address: clientAddress(request, trusted),
    template: NO_ROUTE,
    instance: () => (request.url?.startsWith('/v2/') ? '/v2' : '/'),
    keyId: undefined,
    secrets: [],
    startedAt: performance.now(),
  }
  response[EXCHANGE] = exchange
  return exchange
}

export function exchangeOf(response: Answering): Exchange {
  // Put there by beginExchange, the first thing that happens to a request.
  return response[EXCHANGE] as Exchange
}

/** Whether the caller hung up before the answer was complete. Its signal is made when somebody asks for it: many answers are there before. */
export class HangUp {
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get aborted(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished
  }

  get reason(): unknown {
    return this.signal.reason
  }

  get signal(): AbortSignal {
    this.#signal ??= hangUpSignal(this.#response)
    return this.#signal
  }
}

/** Aborts when the caller hangs up before the answer is complete. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController()
  const look = () => {
    if (!response.writableFinished) hangUp.abort(new DOMException('the caller hung up', 'AbortError'))
  }
  if (response.destroyed) look()
  else response.once('close', look)
  return hangUp.signal
}

/** The caller's own id where it is a sane one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}

/** The last hop of `X-Forwarded-For` that no trusted proxy wrote about another one, else the peer. */
export function clientAddress(request: IncomingMessage, trusted: AddressRules): string {
  let address = normaliseAddress(request.socket.remoteAddress ?? '') ?? ''
  if (trusted.length === 0) return address
  const header = request.headers['x-forwarded-for'] ?? ''
  const hops = (Array.isArray(header) ? header.join(',') : header).split(',')
  for (const hop of hops.reverse()) {
    const before = normaliseAddress(hop.trim())
    if (before === undefined || !addressAllowed(address, trusted)) break
    address = before
  }
  return address
}
