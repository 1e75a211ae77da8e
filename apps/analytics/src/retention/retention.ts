import {
  type Db,
  type PartitionRetentionOptions,
  partitionRetention,
  type Query,
  type RetainedTable,
  type TimePartitionedTable,
} from '@vitascope/postgres'
import { DAY_MS, toDay } from '../view/day.ts'
import { waitForMerge } from '../view/merge.ts'
import { EVENTS, SESSION_EVENTS, VIEW_SESSIONS, VIEWERS, VIEWS } from '../view/partitions.ts'

/**
 * Returns the tables whose rows are deleted after `days`: events, views, sessions, viewers and growth. Counts
 * are never deleted. Events that are not merged yet are not deleted either. All parts of a view are
 * deleted together, because a later event would otherwise count the view again.
 */
export function analyticsRetention(db: Db, days: number, now: () => number = Date.now): RetainedTable[] {
  const retainPartitions = (table: TimePartitionedTable, isInUse?: PartitionRetentionOptions['isInUse']) =>
    partitionRetention(db, table, { days, now, isInUse })
  return [
    retainPartitions(EVENTS, hasPendingEvents),
    retainPartitions(VIEWS, waitUntilMerged),
    retainPartitions(VIEWERS),
    retainPartitions(SESSION_EVENTS),
    retainPartitions(VIEW_SESSIONS),
    { table: 'organisation_growth', remove: (limit) => removeGrowth(db, toDay(now() - days * DAY_MS), limit) },
  ]
}

async function hasPendingEvents(query: Query, partition: string): Promise<boolean> {
  const pendingBatches = await query(`select 1 from pending_batch where to_date(right($1, 8), 'YYYYMMDD') = any (days) limit 1`, [
    partition,
  ])
  return pendingBatches.length > 0
}

/** Waits for a running merge, which reads and writes views in one transaction. Always returns false. */
async function waitUntilMerged(query: Query): Promise<boolean> {
  await waitForMerge(query)
  return false
}

async function removeGrowth(db: Db, firstDay: string, limit: number): Promise<number> {
  const rows = await db.query(
    `delete from organisation_growth where (day, organisation_id) in
       (select day, organisation_id from organisation_growth where day < $1 order by day limit $2) returning 1`,
    [firstDay, limit],
  )
  return rows.length
}
