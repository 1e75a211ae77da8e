import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressRules, clientAddress } from '@vitascope/security'

/** The state of one request while it is processed. */
export interface RequestContext {
  requestId: string
  /** Client address as reported by the trusted proxies. */
  address: string
  /**
   * Path template from the route table, for logs and metrics. Real paths may contain keys and
   * passwords.
   */
  template: string
  /** Returns the path for problem documents, without anything that could be a secret. */
  instance: () => string
  /** Id of the API key that the request is counted for. */
  keyId: string | undefined
  /** Strings of the request that must not appear in a response. */
  secrets: string[]
  /** `performance.now()` at the start of the request. */
  startedAt: number
}

export const NO_ROUTE = '(no route)'

/** Property of a response that holds its `RequestContext`. */
const CONTEXT = Symbol('exchange')
type Answering = ServerResponse & { [CONTEXT]?: RequestContext }

export function beginRequest(request: IncomingMessage, response: Answering, trusted: AddressRules): RequestContext {
  const exchange: RequestContext = {
    requestId: requestId(request),
    address: clientAddress(request, trusted),
    template: NO_ROUTE,
    instance: () => (request.url?.startsWith('/v2/') ? '/v2' : '/'),
    keyId: undefined,
    secrets: [],
    startedAt: performance.now(),
  }
  response[CONTEXT] = exchange
  return exchange
}

export function requestContext(response: Answering): RequestContext {
  // Set by `beginRequest`, which runs first for every request.
  return response[CONTEXT] as RequestContext
}

/**
 * Reports whether the client disconnected before the response was complete. Its abort signal is
 * created on first use, because many responses never need it.
 */
export class ClientDisconnect {
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
    this.#signal ??= disconnectSignal(this.#response)
    return this.#signal
  }
}

/** Returns a signal that aborts when the client disconnects before the response is complete. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController()
  const look = () => {
    if (!response.writableFinished) hangUp.abort(new DOMException('the caller cancelled the call', 'AbortError'))
  }
  if (response.destroyed) look()
  else response.once('close', look)
  return hangUp.signal
}

/** Returns the client's `X-Request-Id` if it is valid, otherwise a new id. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID()
}
