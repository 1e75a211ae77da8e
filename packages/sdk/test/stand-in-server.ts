import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

/** A response as JSON. A text is sent as it is. `destroy` closes the connection without a response. */
export interface StandInResponse {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  destroy?: boolean
}

export interface StandInServer {
  url: string
  /** Requests since the last `answer`. */
  requests: ReceivedRequest[]
  /** Sets one response per request, in order. The last one is used for all further requests. A function computes each response. */
  answer(...responses: StandInResponse[] | [(request: ReceivedRequest) => StandInResponse]): void
  close(): Promise<void>
}

/** Server in place of a platform. Like the platform, it sends `X-Request-Id`. */
export async function startStandInServer(): Promise<StandInServer> {
  let respond: (request: ReceivedRequest) => StandInResponse = () => ({ status: 500 })
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      const received = { method, path, headers, body: body.toString() }
      requests.push(received)
      send(response, respond(received))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(...responses) {
      requests.length = 0
      const [first] = responses
      const list = responses as StandInResponse[]
      respond = typeof first === 'function' ? first : () => list[Math.min(requests.length, list.length) - 1] ?? {}
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Returns a problem document. */
export function problem(
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): StandInResponse {
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: {
      type: `https://video.example.org/docs#${code}`,
      title: code,
      status,
      detail: `detail of ${code}`,
      instance: '/',
      code,
      request_id: 'r-1',
      ...more,
    },
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body, destroy = false }: StandInResponse): void {
  if (destroy) {
    response.destroy()
    return
  }
  const isText = typeof body === 'string' || body === undefined
  const type = isText ? 'text/plain' : 'application/json'
  response.writeHead(status, { 'x-request-id': 'r-1', 'content-type': type, ...headers })
  response.end(isText ? body : JSON.stringify(body))
}
