import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A TCP proxy that injects faults, which can be changed at any time. */
export interface FaultProxy {
  /** `HOST:PORT` to connect to. */
  address: string
  /** `HOST:PORT` that new connections are forwarded to. */
  target: string
  /** Called for each part of a response. True drops it and closes its connection. */
  lose: () => boolean
  /** Delay of every part in milliseconds, in both directions. */
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
  const server = createServer((near) => {
    const colon = proxy.target.lastIndexOf(':')
    const far = connect(Number(proxy.target.slice(colon + 1)), proxy.target.slice(0, colon))
    open.add(near)
    const end = () => {
      open.delete(near)
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    carry(near, far, () => false)
    carry(far, near, () => {
      if (!proxy.lose()) return false
      lost++
      end()
      return true
    })
  })
  /** Parts are forwarded in sequence, so that none overtakes a delayed one. */
  const carry = (from: Socket, to: Socket, swallow: () => boolean) => {
    let before = Promise.resolve()
    from.on('data', (part: Buffer) => {
      if (swallow()) return
      const due = proxy.delayMs > 0 ? delay(proxy.delayMs) : undefined
      before = before.then(() => due).then(() => void (to.destroyed || to.write(part)))
    })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    lose: () => false,
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
