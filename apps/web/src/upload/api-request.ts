import { TemporaryFailure, toRequestError } from './problem.ts'
import { createBackoff, type Waiting } from './retry.ts'

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below `/v2`. */
  path: string
  /** Key of the user. Without it, the request is that of a guest. */
  key: string | undefined
  payload?: Record<string, unknown>
  /** A file as the body instead of a payload. */
  file?: { body: ArrayBuffer; type: string; timeoutMs: number }
  /** Reports why the request waits. Undefined: the server responds. */
  onWaiting?: (waiting: Waiting) => void
  signal: AbortSignal
}

const REQUEST_TIMEOUT_MS = 30_000

/**
 * Sends a request of the API until the server accepts or rejects it. Returns the JSON of the
 * response. Throws `RequestRejected`, or the reason of the signal.
 */
export async function requestApi(request: ApiRequest): Promise<unknown> {
  const backoff = createBackoff(request.signal)
  // A repeated POST whose first response was lost creates nothing twice.
  const headers = request.method === 'POST' ? { 'Idempotency-Key': createRandomKey() } : {}
  for (;;) {
    try {
      const json = await sendOnce(request, headers)
      request.onWaiting?.(undefined)
      return json
    } catch (error) {
      if (error instanceof TemporaryFailure && !request.signal.aborted) request.onWaiting?.(error.reason)
      await backoff.wait(error)
    }
  }
}

async function sendOnce({ method, path, key, payload, file, signal }: ApiRequest, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(`/v2${path}`, {
    method,
    headers: {
      Accept: 'application/json',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(payload && { 'Content-Type': 'application/json' }),
      ...(file && { 'Content-Type': file.type }),
      ...headers,
    },
    body: payload ? JSON.stringify(payload) : (file?.body ?? null),
    // With credentials of the browser, a rejected key would open its login dialog.
    credentials: 'omit',
    cache: 'no-store',
    signal: AbortSignal.any([signal, AbortSignal.timeout(file?.timeoutMs ?? REQUEST_TIMEOUT_MS)]),
  }).catch(() => undefined)
  const body = await response?.text().catch(() => undefined)
  if (!response || body === undefined) throw new TemporaryFailure('unreachable')
  if (!response.ok) throw toRequestError(response.status, body, response.headers.get('Retry-After') ?? undefined)
  try {
    return JSON.parse(body)
  } catch {
    throw new TemporaryFailure('unreachable')
  }
}

/** Returns a random key. It works on pages without TLS, where `crypto.randomUUID` is missing. */
function createRandomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
