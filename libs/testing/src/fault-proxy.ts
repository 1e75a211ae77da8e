import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A TCP proxy that injects faults, which can be changed at any time. */
export interface FaultProxy {
  /** `HOST:PORT` to connect to. */
  address: string
  /** `HOST:PORT` that new connections are forwarded to. */
  target: string
  /** Called for each chunk of a response. If it returns true, the chunk is dropped and its connection is closed. */
  shouldDropResponse: () => boolean
  /** Delay of every chunk in milliseconds, in both directions. */
  delayMs: number
  /** Number of dropped responses. */
  lost(): number
  /** Number of open connections. */
  connections(): number
  /** Closes all open connections. */
  drop(): void
  close(): Promise<void>
}

/** Starts a proxy to `target`, a `HOST:PORT` that does not need to be reachable yet. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const open = new Set<Socket>()
  let lost = 0
  const server = createServer((client) => {
    const colon = proxy.target.lastIndexOf(':')
    const upstream = connect(Number(proxy.target.slice(colon + 1)), proxy.target.slice(0, colon))
    open.add(client)
    const end = () => {
      open.delete(client)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    forward(client, upstream, () => false)
    forward(upstream, client, () => {
      if (!proxy.shouldDropResponse()) return false
      lost++
      end()
      return true
    })
  })
  /** Forwards chunks in sequence, so that no chunk overtakes a delayed one. */
  const forward = (from: Socket, to: Socket, shouldDrop: () => boolean) => {
    let previous = Promise.resolve()
    from.on('data', (chunk: Buffer) => {
      if (shouldDrop()) return
      const due = proxy.delayMs > 0 ? delay(proxy.delayMs) : undefined
      previous = previous.then(() => due).then(() => void (to.destroyed || to.write(chunk)))
    })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    shouldDropResponse: () => false,
    delayMs: 0,
    lost: () => lost,
    connections: () => open.size,
    drop: () => {
      for (const socket of open) socket.destroy()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
  return proxy
}
