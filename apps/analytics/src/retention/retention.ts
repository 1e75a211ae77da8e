import type { Db } from '@vitascope/postgres'
import { PARTITION_LOCK, partitionOf } from '../event/event-store.ts'
import { dayOf } from '../view/contribution.ts'
import { waitForMerge } from '../view/merge.ts'

const DAY_MS = 86_400_000
/** Views removed in one transaction. */
const VIEWS_AT_ONCE = 5_000

/**
 * Removes events of days before the last `days`, views that have had no event since, and who watched then; the counts stay, and so do events that are
 * not counted yet.
 */
export async function removeOld(db: Db, days: number, now: number = Date.now()): Promise<void> {
  const first = dayOf(now - days * DAY_MS)
  const partitions = await db.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event'::regclass`,
  )
  for (const { name } of partitions) {
    if (name >= partitionOf(first)) continue
    await db.transaction(async ({ query }) => {
      await query(PARTITION_LOCK)
      const waiting = await query(`select 1 from pending_batch where to_date(right($1, 8), 'YYYYMMDD') = any (days) limit 1`, [name])
      if (waiting.length > 0) return
      // The name is the database's own.
      await query(`drop table if exists ${name}`)
    })
  }
  for (;;) {
    const removed = await db.transaction(async ({ query }) => {
      await waitForMerge(query)
      const rows = await query(
        `delete from view where ctid = any (array(select ctid from view where last_ms < $1 limit ${VIEWS_AT_ONCE})) returning 1`,
        [Date.parse(first)],
      )
      return rows.length
    })
    if (removed < VIEWS_AT_ONCE) break
  }
  await db.query('delete from viewer where day < $1', [first])
}
