import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections (IANA: from 49152 on, Linux: from 32768 on). */
const LOWEST = 15_000
const HIGHEST = 32_000
const TRIES = 100

/** A TCP port of 127.0.0.1 that was free a moment ago, and that no outgoing connection takes; whoever listens on it next has it. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(LOWEST, HIGHEST)
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
