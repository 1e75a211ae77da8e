import { connect } from 'node:net'

/**
 * Sends raw bytes and returns the received bytes, until the peer closes or the expected number of
 * responses has arrived.
 */
export function sendRaw(address: string, text: string | Buffer, { wait = 3_000 } = {}): Promise<string> {
  const [host, port] = address.split(':')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), host)
    const done = () => {
      socket.destroy()
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    const timer = setTimeout(done, wait)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      // One response is sufficient, unless the request keeps the connection open for more.
      if (/\r\n\r\n[\s\S]/.test(Buffer.concat(chunks).toString('latin1'))) setTimeout(done, 20)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? done() : reject(error)))
    socket.on('close', () => {
      clearTimeout(timer)
      done()
    })
    socket.on('connect', () => socket.write(text))
  })
}

/** Returns the status codes of all responses in the received bytes. */
export function statuses(raw: string): number[] {
  return [...raw.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
}
