import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RoundRobin {
  url: string
  /** Sends nothing there any more. */
  leaveOut(port: number): void
  close(): Promise<void>
}

/** A proxy of which each request goes to the next of these ports of this machine, however its connection was used before. */
export async function startRoundRobin(all: readonly number[]): Promise<RoundRobin> {
  let ports = all
  let nth = 0
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked
    const passed = request({ host: '127.0.0.1', port: ports[nth++ % ports.length], method, path: url, headers, agent: false }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.rawHeaders)
      given.pipe(answer)
      given.on('error', () => answer.destroy())
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
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
