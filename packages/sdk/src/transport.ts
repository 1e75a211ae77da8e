import { invalidArgument, VitascopeError } from './error.ts'
import { foreignResponse, type RequestName, toResponseError, unreachable } from './response-error.ts'
import { wait } from './wait.ts'

/** One HTTP request to the platform. */
export interface HttpRequest {
  method: string
  /** Path below the address of the platform, with query. */
  path: string
  /** Id of the operation, or its description, for error messages. */
  operation: string
  headers?: Record<string, string>
  body?: BodyInit | null
  signal?: AbortSignal | undefined
  /** Milliseconds for one attempt. Default: that of the transport. */
  timeoutMs?: number | undefined
  /** Whether a request without a response is sent again. */
  isRepeatable: boolean
  /** Number of retries. Default: that of the transport. */
  maxRetries?: number | undefined
  /** Called with each response with a status of 2xx, before its body is read. */
  onResponse?: ((response: Response) => void) | undefined
}

/** Sends requests with the API key, and retries them. */
export interface Transport {
  /** Address of the platform, without `/v2` and without a slash at its end. */
  readonly origin: string
  /**
   * Returns the result of `read` for a response with a status of 2xx. Throws a `VitascopeError` for
   * every other response, and the reason of the signal after an abort. An attempt includes `read`.
   */
  send<T>(request: HttpRequest, read: (response: Response, name: RequestName) => Promise<T>): Promise<T>
}

export interface TransportOptions {
  url: string
  key?: string | undefined
  fetch?: typeof fetch | undefined
  credentials?: 'omit' | 'same-origin' | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

/** Without this header, browsers would show a login dialog when a session has ended. */
const FROM_SCRIPT = { 'x-requested-with': 'XMLHttpRequest' }
export const MAX_RETRIES = 3
const DEFAULT_TIMEOUT_MS = 60_000
/** A longer `Retry-After` is reported to the caller at once. */
const MAX_RETRY_AFTER_SECONDS = 60
const FIRST_BACKOFF_MS = 500
/** Statuses of proxies that have no response of the platform. */
const PROXY_FAILURES = new Set([502, 504])

/** Returns a transport. Throws `invalid_argument` for an invalid option. */
export function createTransport(options: TransportOptions): Transport {
  const { key, credentials = 'omit', timeoutMs: defaultTimeoutMs = DEFAULT_TIMEOUT_MS, maxRetries: defaultRetries = MAX_RETRIES } = options
  const origin = readUrl(options.url)
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw invalidArgument('The option key is not an API key: it is empty or has spaces.')
  if (!Number.isInteger(defaultRetries) || defaultRetries < 0 || defaultRetries > MAX_RETRIES) {
    throw invalidArgument(`The option maxRetries must be a whole number from 0 to ${MAX_RETRIES}.`)
  }
  if (!(defaultTimeoutMs > 0)) throw invalidArgument('The option timeoutMs must be more than 0.')
  // A browser rejects calls of its fetch as a method of another object.
  const fetchResponse = options.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args))

  const attempt = async <T>(request: HttpRequest, name: RequestName, read: (response: Response, name: RequestName) => Promise<T>) => {
    const { method, path, headers = {}, body = null, signal, timeoutMs = defaultTimeoutMs } = request
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetchResponse(origin + path, {
        method,
        headers: {
          accept: 'application/json',
          ...(credentials === 'same-origin' && FROM_SCRIPT),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body,
        redirect: 'manual',
        credentials,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      if (!response.ok) throw await toResponseError(response, name)
      request.onResponse?.(response)
      return await read(response, name)
    } catch (error) {
      signal?.throwIfAborted()
      throw error instanceof VitascopeError ? error : unreachable(name, error)
    }
  }

  return {
    origin,
    async send(request, read) {
      const { method, path, operation, signal, maxRetries = defaultRetries } = request
      const name: RequestName = { origin, method, path: path.replace(/\?.*/, ''), operation }
      for (let retries = 0; ; retries++) {
        signal?.throwIfAborted()
        try {
          return await attempt(request, name, read)
        } catch (error) {
          if (!(error instanceof VitascopeError) || retries >= maxRetries) throw error
          const waitMs = findRetryMs(error, request, retries)
          if (waitMs === undefined) throw error
          await wait(waitMs, signal)
        }
      }
    },
  }
}

/** Returns the body as JSON, text or a Blob by its content type, or undefined if it is empty. */
export async function readBody(response: Response, name: RequestName): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  const isJson = /^application\/([\w.+-]+\+)?json\b/.test(type)
  // No other operation returns a page.
  const isForeignPage = type.startsWith('text/html') && name.operation !== 'getUploadFrame'
  if (!isJson && (!response.headers.get('x-request-id') || isForeignPage)) throw foreignResponse(response, name)
  if (/^(application\/octet-stream|(image|video|audio)\/)/.test(type)) return response.blob()
  const text = await response.text()
  if (!isJson) return text === '' ? undefined : text
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw foreignResponse(response, name)
    throw error
  }
}

/** Returns the milliseconds before the next attempt. Undefined: the request must not be repeated. */
function findRetryMs({ code, status, retryAfterSeconds }: VitascopeError, { isRepeatable }: HttpRequest, retries: number) {
  const backoffMs = FIRST_BACKOFF_MS * 2 ** retries * (0.75 + Math.random() / 2)
  // The platform has rejected these requests before it executed them.
  if (status === 429 || status === 503) {
    if (retryAfterSeconds === undefined) return isRepeatable ? backoffMs : undefined
    return retryAfterSeconds <= MAX_RETRY_AFTER_SECONDS ? retryAfterSeconds * 1000 : undefined
  }
  const hasNoResponse = code === 'network_error' || code === 'timeout' || (code === 'server_error' && PROXY_FAILURES.has(status))
  return hasNoResponse && isRepeatable ? backoffMs : undefined
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw invalidArgument(`The option url is not an http or https address of a platform: ${JSON.stringify(text)}.`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v2$/, '')
}
