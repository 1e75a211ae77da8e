import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections (IANA: from 49152 on, Linux: from 32768 on). */
const LOWEST = 15_000
const HIGHEST = 32_000
const TRIES = 100

/** One behind another from a place of this process's own: no port is given twice, and rarely one that another process was given and does not listen on yet. */
let next = randomInt(LOWEST, HIGHEST)

/** A TCP port of 127.0.0.1 that was free a moment ago, and that no outgoing connection takes; whoever listens on it next has it. */
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
