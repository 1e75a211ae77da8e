import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral ports for outgoing connections (IANA: from 49152 on, Linux: from 32768 on). */
const LOWEST = 15_000
const HIGHEST = 32_000
const TRIES = 100

/**
 * Ports are assigned in sequence from a random start. So this process uses no port twice, and rarely one that another
 * process was assigned and does not listen on yet.
 */
let next = randomInt(LOWEST, HIGHEST)

/**
 * Returns a TCP port of 127.0.0.1 that was free a moment ago and is not used for outgoing connections. It is not
 * reserved.
 */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = next
    next = port + 1 < HIGHEST ? port + 1 : LOWEST
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if (tries < TRIES) continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
