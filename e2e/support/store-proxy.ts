import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Fault of all requests: a response with status 500 (`fails`) or a delay (`slow`). `resets` aborts uploads of files only. */
export type StoreFault = 'none' | 'fails' | 'resets' | 'slow'

/** A proxy in front of an S3 store. */
export interface StoreProxy {
  endpoint: string
  fault: StoreFault
  /** Number of requests that a fault affected since the last `set`. */
  affectedRequests(): number
  set(fault: StoreFault): void
  close(): Promise<void>
}

const SLOW_MS = 250
/** Uploads with more bytes than this are files. Only uploads of files are reset. */
const MIN_FILE_BYTES = 2_000

export async function startStoreProxy(target: string): Promise<StoreProxy> {
  let affected = 0
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { fault } = proxy
    if (fault === 'fails') {
      affected++
      request.resume()
      response.writeHead(500, { 'content-type': 'application/xml' })
      response.end('<?xml version="1.0"?><Error><Code>InternalError</Code><Message>injected fault</Message></Error>')
      return
    }
    if (fault === 'slow') {
      affected++
      await delay(SLOW_MS)
    }
    const shouldReset = fault === 'resets' && request.method === 'PUT' && Number(request.headers['content-length']) > MIN_FILE_BYTES
    // The headers are forwarded unchanged, because the signature includes the host name of the
    // client.
    const forwarded = send(target + request.url, { method: request.method ?? 'GET', headers: request.headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers)
      upstream.pipe(response)
      upstream.on('error', () => response.destroy())
    })
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    if (!shouldReset) {
      request.pipe(forwarded)
      return
    }
    request.once('data', (part: Buffer) => {
      affected++
      forwarded.write(part.subarray(0, part.length / 2), () => {
        forwarded.destroy()
        request.socket.destroy()
      })
    })
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: StoreProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: 'none',
    affectedRequests: () => affected,
    set(fault) {
      affected = 0
      proxy.fault = fault
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}
