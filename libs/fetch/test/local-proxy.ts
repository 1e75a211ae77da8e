import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface LocalProxy {
  url: string
  /** Received requests as `METHOD TARGET`. */
  requests: string[]
  headers: IncomingMessage['headers'][]
  close(): Promise<void>
}

/**
 * Starts a proxy for HTTP and CONNECT on 127.0.0.1. It connects to the port of `names` for a host, and responds with 502
 * for other hosts. With `status` it rejects all requests.
 */
export async function startProxy(names: Readonly<Record<string, number>>, { status }: { status?: number } = {}): Promise<LocalProxy> {
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const tunnels = new Set<Socket>()
  const record = (request: IncomingMessage) => {
    requests.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
  }
  const server = createServer((request, response) => {
    record(request)
    const url = new URL(request.url ?? '')
    const port = names[url.hostname]
    if (status !== undefined || port === undefined) {
      response.writeHead(status ?? 502).end()
      return
    }
    const { 'proxy-authorization': _, ...forwarded } = request.headers
    const onward = httpRequest({ host: '127.0.0.1', port, path: url.pathname + url.search, method: request.method, headers: forwarded })
    onward.on('response', (received) => {
      response.writeHead(received.statusCode ?? 0, received.headers)
      received.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request, client: Socket) => {
    record(request)
    const port = names[new URL(`http://${request.url}`).hostname]
    if (status !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${status ?? 502} Rejected\r\n\r\n`)
      return
    }
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n')
      onward.pipe(client).pipe(onward)
    })
    for (const socket of [client, onward]) {
      tunnels.add(socket)
      socket.on('error', () => socket.destroy())
      socket.once('close', () => tunnels.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    async close() {
      for (const socket of tunnels) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
