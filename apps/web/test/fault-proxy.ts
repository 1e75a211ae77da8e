import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * - `closed`: connections end and new connections fail, as with a server that was killed.
 * - `unavailable`: each request gets the response 503.
 * - `silent`: the proxy forwards no more requests and ends no connection, as a firewall that drops
 *   packets. Responses in progress continue, except on throttled connections.
 */
export type Outage = 'closed' | 'unavailable' | 'silent'

/** TCP proxy to a local server, with outages that a test starts and ends. */
export interface FaultProxy {
  url: string
  startOutage(outage: Outage): Promise<void>
  /**
   * Ends the outage for new connections. Open connections without throttling stay paused after
   * `silent`.
   */
  endOutage(): Promise<void>
  /** Ends all connections and limits the rate of each later connection. */
  throttle(bytesPerSecond: number): void
  close(): Promise<void>
}

const SLICE_BYTES = 2_048

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const targetPort = Number(new URL(target).port)
  const sockets = new Set<Socket>()
  let outage: Outage | undefined
  let bytesPerSecond = Number.POSITIVE_INFINITY
  let port = 0
  let server: Server | undefined

  const accept = (viewer: Socket) => {
    sockets.add(viewer)
    viewer.on('close', () => sockets.delete(viewer)).on('error', () => viewer.destroy())
    if (outage === 'silent') return void viewer.pause()
    if (outage === 'unavailable') return send503(viewer)
    const platform = connect(targetPort, '127.0.0.1')
    platform.on('close', () => viewer.destroy()).on('error', () => viewer.destroy())
    viewer.on('close', () => platform.destroy())
    viewer.pipe(platform)
    if (bytesPerSecond === Number.POSITIVE_INFINITY) platform.pipe(viewer)
    else copySlowly(platform, viewer).catch(() => viewer.destroy())
  }
  const copySlowly = async (from: Socket, to: Socket) => {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
        while (outage === 'silent') await delay(100)
        const slice = chunk.subarray(start, start + SLICE_BYTES)
        if (to.destroyed) return
        to.write(slice)
        await delay((1000 * slice.length) / bytesPerSecond)
      }
    }
  }
  const listen = async () => {
    server = createServer(accept)
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    const address = server.address()
    if (address !== null && typeof address === 'object') port = address.port
  }
  const endConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  const stopListening = async () => {
    const stopped = new Promise((resolve) => server?.close(resolve))
    endConnections()
    await stopped
    server = undefined
  }

  await listen()
  return {
    url: `http://127.0.0.1:${port}`,
    async startOutage(kind) {
      outage = kind
      if (kind === 'closed') await stopListening()
      else if (!server) await listen()
      else if (kind === 'unavailable') endConnections()
      else for (const socket of sockets) socket.unpipe().pause()
    },
    async endOutage() {
      // Open connections that send 503 would continue to do so.
      if (outage === 'unavailable') endConnections()
      outage = undefined
      if (!server) await listen()
    },
    throttle(rate) {
      bytesPerSecond = rate
      endConnections()
    },
    async close() {
      if (server) await stopListening()
    },
  }
}

function send503(viewer: Socket): void {
  viewer.on('data', () => viewer.write('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\ncontent-type: text/plain\r\n\r\n'))
}
