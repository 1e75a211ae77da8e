import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request that a stand-in received. */
export interface RecordedRequest {
  method: string
  /** Path without the query. */
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: string
}

export interface StandInResponse {
  status: number
  body?: string
  headers?: Record<string, string>
}

/** Starts an HTTP server that records each request and responds with the result of `respond`. For tests. */
export async function startStandIn(respond: (request: RecordedRequest) => StandInResponse) {
  const requests: RecordedRequest[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://stand-in')
    const body = (await buffer(request)).toString('latin1')
    const received = { method: request.method ?? '', path: url.pathname, query: url.searchParams, headers: request.headers, body }
    requests.push(received)
    const { status, body: text = '', headers = {} } = respond(received)
    response.writeHead(status, headers).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Responds like an S3 store that accepts every object, stored with one request or in parts. */
export function acceptObject({ method, query }: RecordedRequest): StandInResponse {
  const headers = { etag: '"0"' }
  if (method !== 'POST') return { status: 200, headers }
  const result = query.has('uploads')
    ? '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'
    : '<CompleteMultipartUploadResult><ETag>"0-2"</ETag></CompleteMultipartUploadResult>'
  return { status: 200, headers: { ...headers, 'content-type': 'application/xml' }, body: result }
}
