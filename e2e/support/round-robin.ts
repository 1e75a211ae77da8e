import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RoundRobin {
  url: string
  /** Sends no more requests to this port. */
  leaveOut(port: number): void
  close(): Promise<void>
}

/**
 * Starts a proxy that sends each request to the next of these local ports, also within one
 * connection.
 */
export async function startRoundRobin(all: readonly number[]): Promise<RoundRobin> {
  let ports = all
  let nth = 0
  const server = createServer((requested, response) => {
    const { method, url, headers } = requested
    const passed = request({ host: '127.0.0.1', port: ports[nth++ % ports.length], method, path: url, headers, agent: false }, (input) => {
      response.writeHead(input.statusCode ?? 502, input.rawHeaders)
      input.pipe(response)
      input.on('error', () => response.destroy())
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    requested.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leaveOut: (port) => {
      ports = ports.filter((one) => one !== port)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
