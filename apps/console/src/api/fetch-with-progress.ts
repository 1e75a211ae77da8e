/**
 * Returns a `fetch` that calls `onProgress` with the sent percentage of the body, from 0 to 100. It uses XMLHttpRequest,
 * because the `fetch` of browsers cannot report it.
 */
export function fetchWithProgress(onProgress: (percent: number) => void): typeof fetch {
  return (input, { method = 'GET', headers, body = null, signal } = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(method, String(input))
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.responseType = 'blob'
      request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? Math.floor((100 * loaded) / total) : 0))
      request.addEventListener('load', () => {
        const content: unknown = request.response
        resolve(new Response(content instanceof Blob ? content : null, { status: request.status, headers: readHeaders(request) }))
      })
      request.addEventListener('error', () => reject(new TypeError('the connection failed')))
      request.addEventListener('abort', () => reject(signal?.reason))
      signal?.throwIfAborted()
      signal?.addEventListener('abort', () => request.abort(), { once: true })
      request.send(body as XMLHttpRequestBodyInit | null)
    })
}

function readHeaders(request: XMLHttpRequest): Headers {
  const headers = new Headers()
  for (const line of request.getAllResponseHeaders().trim().split('\r\n')) {
    const at = line.indexOf(':')
    if (at > 0) headers.append(line.slice(0, at), line.slice(at + 1).trim())
  }
  return headers
}
