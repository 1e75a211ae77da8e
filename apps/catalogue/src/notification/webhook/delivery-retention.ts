import { createPartitionsAhead, type Db, dropPartitions, type RetainedTable, type TimePartitionedTable } from '@vitascope/postgres'

const DAY_MS = 86_400_000
const RETENTION_DAYS = 7

/** One partition for each UTC day of `create_time`. */
export const DELIVERIES: TimePartitionedTable = {
  table: 'webhook_delivery',
  days: 1,
  bound: (day) => `'${day} 00:00:00+00'`,
  hasDefault: true,
}

/**
 * Returns the retention of deliveries. It keeps those of the current UTC day and of the seven days before
 * it. The default partition only contains deliveries of days whose partition did not exist.
 */
export function deliveryRetention(db: Db, now: () => number = Date.now): RetainedTable {
  return {
    table: DELIVERIES.table,
    async remove(limit) {
      await createPartitionsAhead(db, DELIVERIES, now())
      const day = new Date(now() - RETENTION_DAYS * DAY_MS).toISOString().slice(0, 10)
      const droppedPartitions = await dropPartitions(db, DELIVERIES, { day, limit })
      const rows = await db.query(
        `delete from webhook_delivery_default where (delivery_id, create_time) in
           (select delivery_id, create_time from webhook_delivery_default where create_time < $1::date::timestamp at time zone 'UTC' limit $2)
         returning 1`,
        [day, limit],
      )
      return Math.max(droppedPartitions, rows.length)
    },
  }
}
