import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Bounds of the ports. Ephemeral ports for outgoing connections begin above them (IANA: 49152, Linux: 32768). */
const MIN_PORT = 15_000
const MAX_PORT = 32_000
const MAX_ATTEMPTS = 100
const BLOCK_SIZE = 500
const BLOCKS = (MAX_PORT - MIN_PORT) / BLOCK_SIZE

/**
 * Ports are assigned in sequence from a random start. This process therefore repeats a port only after all others.
 * Another process may have chosen a port on which it does not listen yet. Processes that started one after the other,
 * such as the workers of a test run, therefore begin in different blocks of ports, in the first half of each.
 */
let next = MIN_PORT + (process.pid % BLOCKS) * BLOCK_SIZE + randomInt(BLOCK_SIZE / 2)

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
