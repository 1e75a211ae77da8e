import { asObject, asText } from '../json-values.ts'

export interface TusRequest {
  method: 'POST' | 'HEAD' | 'PATCH' | 'DELETE'
  path: string
  key: string
  headers?: Record<string, string>
  body?: Blob
  /** Of the body, in bytes. */
  onSent?: (bytes: number) => void
  signal: AbortSignal
}

export interface TusAnswer {
  status: number
  header: (name: string) => string | undefined
  /** What a problem document says, for people; empty where it says nothing. */
  problem: string
}

/** The server cannot be reached, or did not answer to the end. */
export class Unreachable extends Error {
  constructor() {
    super('the server cannot be reached')
    this.name = 'Unreachable'
  }
}

/** One request of the tus protocol. */
export function askTus(request: TusRequest): Promise<TusAnswer> {
  request.signal.throwIfAborted()
  const headers = { Authorization: `Bearer ${request.key}`, 'Tus-Resumable': '1.0.0', ...request.headers }
  return request.body ? sendBody(request, request.body, headers) : askOnly(request, headers)
}

/** Without the browser's own credentials: it would ask people for a name and a password where a key is refused. */
async function askOnly({ method, path, signal }: TusRequest, headers: Record<string, string>): Promise<TusAnswer> {
  try {
    const answer = await fetch(path, { method, headers, credentials: 'omit', signal })
    return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, problem: problemOf(await answer.text()) }
  } catch {
    signal.throwIfAborted()
    throw new Unreachable()
  }
}

/** Not by fetch, which does not tell how much of a body is on its way. */
function sendBody({ method, path, onSent, signal }: TusRequest, body: Blob, headers: Record<string, string>): Promise<TusAnswer> {
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
      resolve({ status: request.status, header, problem: problemOf(request.responseText) })
    })
    request.send(body)
  })
}

function problemOf(text: string): string {
  try {
    const problem = asObject(JSON.parse(text))
    const fields = Array.isArray(problem['errors']) ? problem['errors'].map((one) => asText(asObject(one)['message'])) : []
    return [asText(problem['detail']), ...fields].filter((part) => part !== '').join(': ')
  } catch {
    return ''
  }
}
