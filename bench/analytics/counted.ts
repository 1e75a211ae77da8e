import { setTimeout as delay } from 'node:timers/promises'
import { withClient } from './with-client.ts'

const POLL_MS = 50

/** Waits until reports include every acknowledged event. Returns the seconds that this took. */
export function untilCounted(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const started = performance.now()
    for (;;) {
      const { rowCount } = await client.query('select 1 from analytics.pending_batch limit 1')
      if (rowCount === 0) return (performance.now() - started) / 1_000
      await delay(POLL_MS)
    }
  })
}
