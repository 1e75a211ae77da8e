import type { Db } from '@vitascope/postgres'
import { PARTITION_LOCK, partitionOf } from '../event/event-store.ts'
import { dayOf } from '../view/contribution.ts'
import { waitForMerge } from '../view/merge.ts'

const DAY_MS = 86_400_000
/** Views removed in one transaction, about. */
const VIEWS_AT_ONCE = 5_000

/**
 * Removes events of days before the last `days`, views that have had no event since, and who watched then; the counts stay, and so do events that are
 * not counted yet.
 */
export async function removeOld(db: Db, days: number, now: number = Date.now(), viewsAtOnce = VIEWS_AT_ONCE): Promise<void> {
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
  while ((await removeViews(db, Date.parse(first), viewsAtOnce)) >= viewsAtOnce);
  await db.query('delete from viewer where day < $1', [first])
}

/** All parts of a view in one transaction, once the last of them is old: what is left of a view would be taken for another one. */
function removeViews(db: Db, beforeMs: number, atOnce: number): Promise<number> {
  return db.transaction(async ({ query }) => {
    await waitForMerge(query)
    // Views are found by their keys: a join would read all there are.
    await query(`select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`)
    const rows = await query(
      `delete from view where (view_id, video_id) in (
         select view_id, video_id from view old where last_ms < $1
           and not exists (select from view part where part.view_id = old.view_id and part.video_id = old.video_id and part.last_ms >= $1)
         limit $2
       ) returning 1`,
      [beforeMs, atOnce],
    )
    return rows.length
  })
}
