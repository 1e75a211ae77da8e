import type { ServerResponse } from 'node:http'

/** Sends a JSON body with its content type. HEAD receives only the headers. */
export function sendJson(response: ServerResponse, body: object, headers: Readonly<Record<string, string>> = {}): void {
  sendJsonBytes(response, Buffer.from(JSON.stringify(body)), headers)
}

/** Sends JSON that was serialised before, for large constant responses. */
export function sendJsonBytes(response: ServerResponse, bytes: Buffer, headers: Readonly<Record<string, string>> = {}): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.setHeader('Content-Length', bytes.length)
  if (response.req.method === 'HEAD') response.end()
  else response.end(bytes)
}

/** Adds a header name to `Vary`, unless it is already listed. */
export function vary(response: ServerResponse, name: string): void {
  const existing = response.getHeader('Vary')
  if (existing === undefined) response.setHeader('Vary', name)
  else if (!String(existing).split(', ').includes(name)) response.setHeader('Vary', `${existing}, ${name}`)
}
