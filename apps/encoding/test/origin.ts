import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A local HTTP server for sources. */
export interface Origin {
  url(path: string): string
  /** Serves a file or bytes under a path. */
  serve(path: string, content: string | Buffer): void
  /** Sets a custom handler for a path. */
  setHandler(path: string, handler: (response: ServerResponse) => void): void
  /** Returns the number of requests for a path. */
  hits(path: string): number
  stop(): Promise<void>
}

export async function startOrigin(): Promise<Origin> {
  const handlers = new Map<string, (response: ServerResponse) => void>()
  const hits = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    hits.set(path, (hits.get(path) ?? 0) + 1)
    const handler = handlers.get(path)
    if (handler) handler(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    serve(path, content) {
      handlers.set(path, (response) => {
        const body = typeof content === 'string' ? readFile(content) : Promise.resolve(content)
        body.then(
          (bytes) => response.writeHead(200, { 'content-length': bytes.length }).end(bytes),
          () => response.writeHead(500).end(),
        )
      })
    },
    setHandler: (path, handler) => void handlers.set(path, handler),
    hits: (path) => hits.get(path) ?? 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
