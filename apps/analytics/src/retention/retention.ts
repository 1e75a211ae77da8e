import {
  type Db,
  dropPartitions,
  makePartitionsAhead,
  type Query,
  type RetainedTable,
  type TimePartitionedTable,
} from '@vitascope/postgres'
import { dayOf } from '../view/contribution.ts'
import { waitForMerge } from '../view/merge.ts'
import { EVENTS, VIEWERS, VIEWS } from '../view/partitions.ts'

const DAY_MS = 86_400_000

/**
 * Returns the tables with a retention period: events older than `days`, and views and viewers in
 * partitions that lie entirely before that. Counts are kept, and so are events that are not merged
 * yet. A view is removed as a whole when its last event is old, because a remaining part would
 * count as a new view.
 */
export function analyticsRetention(db: Db, days: number, now: () => number = Date.now): RetainedTable[] {
  const retain = (table: TimePartitionedTable, isInUse?: (query: Query, partition: string) => Promise<boolean>): RetainedTable => ({
    table: table.table,
    async remove(limit) {
      await makePartitionsAhead(db, table, now())
      return dropPartitions(db, table, { day: dayOf(now() - days * DAY_MS), limit, ...(isInUse && { isInUse }) })
    },
  })
  return [
    retain(EVENTS, isNotCounted),
    retain(VIEWS, waitUntilMerged),
    retain(VIEWERS),
    { table: 'organisation_growth', remove: (limit) => removeGrowth(db, dayOf(now() - days * DAY_MS), limit) },
  ]
}

async function isNotCounted(query: Query, partition: string): Promise<boolean> {
  const waiting = await query(`select 1 from pending_batch where to_date(right($1, 8), 'YYYYMMDD') = any (days) limit 1`, [partition])
  return waiting.length > 0
}

/** Always returns false. It waits for a running merge, which reads and writes views in one transaction. */
async function waitUntilMerged(query: Query): Promise<boolean> {
  await waitForMerge(query)
  return false
}

async function removeGrowth(db: Db, first: string, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from organisation_growth where (day, organisation_id) in
       (select day, organisation_id from organisation_growth where day < $1 order by day limit $2) returning 1`,
    [first, limit],
  )
  return rows.length
}
