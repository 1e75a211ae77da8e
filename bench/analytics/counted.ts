import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const POLL_MS = 50

/** Waits until reports include every acknowledged event. Returns the seconds that this took. */
export async function untilCounted(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const started = performance.now()
  for (;;) {
    const { rowCount } = await client.query('select 1 from analytics.pending_batch limit 1')
    if (rowCount === 0) break
    await delay(POLL_MS)
  }
  await client.end()
  return (performance.now() - started) / 1_000
}
