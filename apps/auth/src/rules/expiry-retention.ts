import type { Db, RetainedTable } from '@vitascope/postgres'

/**
 * Returns the retention of a table whose rows have an `expire_time`: rows are deleted `graceHours` after it (default: 0).
 * `key` is the primary key. Both names are inserted into SQL, so they must be constants.
 */
export function createExpiryRetention(db: Db, table: string, { key, graceHours = 0 }: { key: string; graceHours?: number }): RetainedTable {
  return {
    table,
    async remove(limit) {
      const rows = await db.query(
        `delete from ${table} where ${key} in
           (select ${key} from ${table} where expire_time < now() - $2::int * interval '1 hour' order by expire_time limit $1)
         returning 1`,
        [limit, graceHours],
      )
      return rows.length
    },
  }
}
