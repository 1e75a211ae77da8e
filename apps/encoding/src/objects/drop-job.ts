import type { Db } from '@vitascope/postgres'
import { dropPrefixes } from './object-prefix.ts'

/** Gives up all objects of a finished job; the sweep removes them. */
export function dropJob(db: Db, jobId: string): Promise<void> {
  return db.transaction(async (tx) => {
    const dropped = await tx.query(
      `update job set is_dropped = true where job_id = $1 and state in ('ok', 'failed', 'cancelled') returning 1`,
      [jobId],
    )
    if (dropped.length > 0) await dropPrefixes(tx, jobId)
  })
}
