/** Longest text of a response in a message. */
const MAX_TEXT = 500

/** A failed test. The message says what failed and what to check. */
export class ReleaseTestFailed extends Error {}

export interface Client {
  /** Sends a request with the key and returns the JSON of the response. Throws `ReleaseTestFailed`. */
  request<Body>(method: string, path: string, body?: FormData): Promise<Body>
}

export function createClient(url: URL, key: string, signal: AbortSignal): Client {
  const authorization = `Basic ${Buffer.from(`${key}:x`).toString('base64')}`
  return {
    async request<Body>(method: string, path: string, body?: FormData) {
      const { status, bytes } = await send(new URL(path, url), { method, headers: { authorization }, body: body ?? null, signal })
      const text = bytes.toString()
      const json = status === 200 ? parseJson(text) : undefined
      if (json !== undefined) return json as Body
      const [pathname] = path.split('?')
      const hint = status === 401 ? '`system-key` of the secret must be the key that auth uses. ' : ''
      throw new ReleaseTestFailed(`${method} ${pathname} returned ${status}: ${hint}${text.slice(0, MAX_TEXT)}`)
    },
  }
}

/** Sends a request and reads the whole response. Throws `ReleaseTestFailed` if there is none. */
export async function send(url: URL, init: RequestInit): Promise<{ status: number; bytes: Buffer }> {
  try {
    const response = await fetch(url, init)
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : message
    throw new ReleaseTestFailed(`${url.href} did not respond: ${reason}`, { cause: error })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
