import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** An external web server for sources. */
export interface SourceServer {
  url: string
  /** Sets a custom handler for a path, such as an endless, slow or redirected response. */
  setHandler(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): Promise<void>
}

/** Serves the files of a folder, and the handlers of `setHandler`. Of range requests, only `bytes=START-` is supported. */
export async function startSourceServer(folder: string, host = '127.0.0.1'): Promise<SourceServer> {
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const handler = handlers.get(path)
    if (handler) handler(request, response)
    else void serveFile(join(folder, path), request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    setHandler: (path, handler) => void handlers.set(path, handler),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serveFile(file: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const info = await stat(file).catch(() => undefined)
  if (!info?.isFile()) {
    response.writeHead(404).end()
    return
  }
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
  response.writeHead(start > 0 ? 206 : 200, {
    'content-length': info.size - start,
    etag: `"${info.size}"`,
    ...(start > 0 && { 'content-range': `bytes ${start}-${info.size - 1}/${info.size}` }),
  })
  createReadStream(file, { start }).pipe(response)
}
