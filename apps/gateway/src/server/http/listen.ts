import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net'

/**
 * Node accepts one connection per listening socket in each turn of the event loop. A busy turn
 * takes many milliseconds, so that new clients and probes would wait seconds in the accept queue.
 * With N sockets on the same port, N connections are accepted per turn. Only Linux distributes
 * connections among sockets that share a port.
 */
const CAN_SHARE_PORT = process.platform === 'linux'
const SOCKETS_PER_PORT = CAN_SHARE_PORT ? 16 : 1

export interface Listening {
  port: number
  /** Stops accepting connections. Resolves when the open connections have ended. */
  close(): Promise<void>
}

export async function listenOnManySockets(server: Server, { host, port }: { host: string; port: number }): Promise<Listening> {
  // Sockets with SO_REUSEPORT would also share the port with another process, so the port is
  // checked first.
  if (port !== 0) await requireFreePort(host, port)
  await listen(server, host, port)
  const boundPort = (server.address() as AddressInfo).port
  const extraServers = Array.from({ length: SOCKETS_PER_PORT - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit('connection', socket)),
  )
  for (const extraServer of extraServers) await listen(extraServer, host, boundPort)
  return {
    port: boundPort,
    close: async () => {
      await Promise.all([server, ...extraServers].map((listener) => new Promise((resolve) => listener.close(resolve))))
    },
  }
}

async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(port, host, resolve))
  await new Promise((resolve) => probe.close(resolve))
}

function listen(server: NetServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ host, port, reusePort: CAN_SHARE_PORT }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
