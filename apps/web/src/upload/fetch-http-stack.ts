import type { HttpRequest, HttpResponse, HttpStack } from 'tus-js-client'

/**
 * Maximum time of one request. A part is sized for a fraction of it, so a longer request has
 * stalled.
 */
const REQUEST_TIMEOUT_MS = 60_000

/**
 * Sends the requests of tus-js-client by fetch. They have no credentials of the browser, because
 * with them the browser would show its login dialog when the key is rejected. Only the path of a URL
 * is used, because the server may return URLs with another host than that of this page.
 */
export const fetchHttpStack: HttpStack = {
  createRequest: (method, url) => createRequest(method, new URL(url, location.href).pathname),
  getName: () => 'fetch',
}

function createRequest(method: string, path: string): HttpRequest {
  const headers: Record<string, string> = {}
  const stop = new AbortController()
  return {
    getMethod: () => method,
    getURL: () => path,
    setHeader(name, value) {
      headers[name] = value
    },
    getHeader: (name) => headers[name],
    // fetch reports no progress of a body. The library reports it after each part.
    setProgressHandler() {},
    async send(body: Blob | null = null) {
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
      const response = await fetch(path, { method, headers, body, credentials: 'omit', cache: 'no-store', signal })
      return toHttpResponse(response, await response.text())
    },
    async abort() {
      stop.abort()
    },
    getUnderlyingObject: () => undefined,
  }
}

function toHttpResponse(response: Response, body: string): HttpResponse {
  return {
    getStatus: () => response.status,
    getHeader: (name) => response.headers.get(name) ?? undefined,
    getBody: () => body,
    getUnderlyingObject: () => response,
  }
}
