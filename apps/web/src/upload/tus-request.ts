import { asObject, asText } from '../video/json-values.ts'

export interface TusRequest {
  method: 'POST' | 'HEAD' | 'PATCH' | 'DELETE'
  path: string
  key: string
  headers?: Record<string, string>
  body?: Blob
  /** Number of body bytes that were sent. */
  onSent?: (bytes: number) => void
  signal: AbortSignal
}

export interface TusResponse {
  status: number
  header: (name: string) => string | undefined
  /** Message of the problem document for the user. It is empty if the response has no message. */
  problem: string
}

/** The server is unreachable, or the response was incomplete. */
export class Unreachable extends Error {
  constructor() {
    super('the server cannot be reached')
    this.name = 'Unreachable'
  }
}

/** Sends one request of the tus protocol. */
export function sendTusRequest(request: TusRequest): Promise<TusResponse> {
  request.signal.throwIfAborted()
  const headers = { Authorization: `Bearer ${request.key}`, 'Tus-Resumable': '1.0.0', ...request.headers }
  return request.body ? sendBody(request, request.body, headers) : sendWithoutBody(request, headers)
}

/**
 * Sends no browser credentials. With them, the browser would show a login dialog when the key is
 * rejected.
 */
async function sendWithoutBody({ method, path, signal }: TusRequest, headers: Record<string, string>): Promise<TusResponse> {
  try {
    const response = await fetch(path, { method, headers, credentials: 'omit', signal })
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      problem: readProblem(await response.text()),
    }
  } catch {
    signal.throwIfAborted()
    throw new Unreachable()
  }
}

/** Uses XMLHttpRequest, because fetch reports no upload progress. */
function sendBody({ method, path, onSent, signal }: TusRequest, body: Blob, headers: Record<string, string>): Promise<TusResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, path)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    const abort = () => request.abort()
    signal.addEventListener('abort', abort, { once: true })
    request.upload.addEventListener('progress', ({ loaded }) => onSent?.(loaded))
    request.addEventListener('loadend', () => {
      signal.removeEventListener('abort', abort)
      if (signal.aborted) return reject(signal.reason)
      if (request.status === 0) return reject(new Unreachable())
      const header = (name: string) => request.getResponseHeader(name) ?? undefined
      resolve({ status: request.status, header, problem: readProblem(request.responseText) })
    })
    request.send(body)
  })
}

/**
 * Returns the message of a problem document: all field errors, or the detail if it has
 * no field errors. Returns an empty string for any other text.
 */
export function readProblem(text: string): string {
  try {
    const problem = asObject(JSON.parse(text))
    const errors = Array.isArray(problem['errors']) ? problem['errors'].map(asObject) : []
    const messages = errors.map(({ field, message }) => `${asText(field)}: ${asText(message)}`)
    // The detail of a single field error is the same sentence.
    return messages.length > 0 ? messages.join('; ') : asText(problem['detail'])
  } catch {
    return ''
  }
}
