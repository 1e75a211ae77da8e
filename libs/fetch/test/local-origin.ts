import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalOrigin {
  port: number
  /** Returns the URL of a path at the literal address 127.0.0.1. */
  url(path: string): string
  requests: IncomingMessage[]
  /** Number of accepted TCP connections, with or without a request. */
  connections(): number
  close(): Promise<void>
}

/** Starts an HTTP server on 127.0.0.1 that records its requests. */
export async function startOrigin(listener: RequestListener): Promise<LocalOrigin> {
  const requests: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request)
    listener(request, response)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    requests,
    connections: () => connections,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
