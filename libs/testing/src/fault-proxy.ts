import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A TCP proxy between two that believe they speak to each other; what it does to them may change at any time. */
export interface FaultProxy {
  /** `HOST:PORT` to connect to. */
  address: string
  /** Where new connections lead, a `HOST:PORT`. */
  target: string
  /** Asked for each part of a reply: true loses it, and its connection. */
  lose: () => boolean
  /** Milliseconds by which every part is late, in both directions. */
  delayMs: number
  /** Replies that were lost. */
  lost(): number
  /** Connections of the moment. */
  connections(): number
  /** Ends all connections of the moment. */
  drop(): void
  close(): Promise<void>
}

/** `target` is a `HOST:PORT`, which need not be there yet. */
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
  /** One part after another: none overtakes one that is late. */
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
