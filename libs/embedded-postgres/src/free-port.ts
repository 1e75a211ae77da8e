import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Bounds of the ports. Ephemeral ports for outgoing connections begin above them (IANA: 49152, Linux: 32768). */
const MIN_PORT = 15_000
const MAX_PORT = 32_000
const MAX_ATTEMPTS = 100

/**
 * Ports are assigned in sequence from a random start. This process therefore repeats a port only after all others.
 * It rarely returns a port that another process has chosen but does not listen on yet.
 */
let next = randomInt(MIN_PORT, MAX_PORT)

/**
 * Returns a TCP port of 127.0.0.1 that was free a moment ago and is not used for outgoing connections. It is not
 * reserved.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = next
    next = port + 1 < MAX_PORT ? port + 1 : MIN_PORT
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if (attempt < MAX_ATTEMPTS) continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
