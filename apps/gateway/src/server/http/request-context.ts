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
  /** True if a script of a page sent the request, not the browser itself and not a program. */
  isFromScript: boolean
  /** `performance.now()` at the start of the request. */
  startedAt: number
}

/** Browsers omit `Sec-Fetch-Site` on pages without https. The scripts of our pages send `X-Requested-With`. */
function isFromScript({ headers }: IncomingMessage): boolean {
  return headers['x-requested-with'] !== undefined || (headers['sec-fetch-site'] !== undefined && headers['sec-fetch-mode'] !== 'navigate')
}

export const NO_ROUTE = '(no route)'

/** Property of a response that stores its `RequestContext`. */
const CONTEXT = Symbol('request context')
type ContextResponse = ServerResponse & { [CONTEXT]?: RequestContext }

export function beginRequest(request: IncomingMessage, response: ContextResponse, trusted: AddressRules): RequestContext {
  const context: RequestContext = {
    requestId: requestId(request),
    address: clientAddress(request, trusted),
    template: NO_ROUTE,
    instance: () => (request.url?.startsWith('/v2/') ? '/v2' : '/'),
    keyId: undefined,
    secrets: [],
    isFromScript: isFromScript(request),
    startedAt: performance.now(),
  }
  response[CONTEXT] = context
  return context
}

export function requestContext(response: ContextResponse): RequestContext {
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
  const disconnect = new AbortController()
  const abort = () => {
    if (!response.writableFinished) disconnect.abort(new DOMException('the client disconnected', 'AbortError'))
  }
  if (response.destroyed) abort()
  else response.once('close', abort)
  return disconnect.signal
}

/** Returns the client's `X-Request-Id` if it is valid, otherwise a new id. */
export function requestId(request: IncomingMessage): string {
  const requestId = request.headers['x-request-id']
  return typeof requestId === 'string' && /^[\w.-]{1,64}$/.test(requestId) ? requestId : randomUUID()
}
