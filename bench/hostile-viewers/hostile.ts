import { connect, type Socket } from 'node:net'

export interface HostileViewers {
  /** Returns the number of connections that are open or being opened. */
  open(): number
  /** Closes all connections and opens no more. */
  stop(): void
}

interface Options {
  host: string
  port: number
  /** Path of a file of at least 1,000,000 bytes. */
  path: string
  /** Number of connections that are kept open. */
  connections: number
  /** Number of client addresses that the connections are distributed over, 1 to 256. `X-Forwarded-For` contains them. */
  addresses: number
}

/** Interval between two bytes of a slow request. */
const DRIP_MS = 1_000
/** Interval between two requests for a range. */
const RANGE_MS = 100
/** A connection that the server has closed is opened again after this time. */
const RECONNECT_MS = 500

/**
 * Opens connections of hostile viewers. Half of them request a file and never read the response. A
 * quarter send a request byte by byte and never complete it. Another quarter request one byte of the
 * file ten times per second.
 */
export function startHostileViewers(options: Options): HostileViewers {
  const sockets = new Set<Socket>()
  let isStopped = false
  const start = (index: number) => {
    if (isStopped) return
    const socket = connect(options.port, options.host)
    sockets.add(socket)
    const forwarded = `X-Forwarded-For: 198.51.100.${index % options.addresses}`
    const head = `GET ${options.path} HTTP/1.1\r\nHost: h\r\n${forwarded}\r\n`
    let timer: NodeJS.Timeout | undefined
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      sockets.delete(socket)
      setTimeout(start, RECONNECT_MS, index)
    })
    socket.on('connect', () => {
      if (index % 4 < 2) {
        socket.pause()
        socket.write(`${head}\r\n`)
      } else if (index % 4 === 2) {
        let sent = 0
        timer = setInterval(() => socket.write(head[sent++ % head.length] ?? 'x'), DRIP_MS)
      } else {
        socket.resume()
        timer = setInterval(() => {
          const position = Math.floor(Math.random() * 1_000_000)
          socket.write(`${head}Range: bytes=${position}-${position}\r\n\r\n`)
        }, RANGE_MS)
      }
    })
  }
  for (let index = 0; index < options.connections; index++) start(index)
  return {
    open: () => sockets.size,
    stop() {
      isStopped = true
      for (const socket of sockets) socket.destroy()
    },
  }
}
