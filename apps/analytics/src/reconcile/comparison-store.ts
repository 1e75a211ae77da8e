import type { Db } from '@vitascope/postgres'

/** The nightly comparisons of counts with events, shared by all replicas. */
export interface ComparisonStore {
  /**
   * Claims the comparison if it is due. It is due if the last finished one started before midnight (UTC)
   * and none was claimed within the last hour. A failed comparison is therefore repeated after an hour.
   */
  claim(): Promise<Claim | undefined>
  /** Stores the result of a comparison, unless another process has claimed it in the meantime. */
  save(claim: Claim, differences: number): Promise<void>
  /**
   * Returns the last finished comparison. Before the first one has finished, it returns the initial
   * row with 0 differences, and before the first `claim` undefined.
   */
  last(): Promise<{ startSeconds: number; differences: number } | undefined>
}

export interface Claim {
  time: string
}

export function createComparisonStore(db: Db): ComparisonStore {
  return {
    async claim() {
      // The first row is created without a comparison. The first comparison is due at the next
      // midnight.
      await db.query('insert into comparison (compare_time, differences) values (now(), 0) on conflict do nothing')
      const [claim] = await db.query<Claim>(
        `update comparison set claim_time = now()
         where compare_time < date_trunc('day', now(), 'UTC') and (claim_time is null or claim_time < now() - interval '1 hour')
         returning claim_time::text as time`,
      )
      return claim
    },
    async save({ time }, differences) {
      await db.query('update comparison set compare_time = claim_time, claim_time = null, differences = $2 where claim_time = $1', [
        time,
        differences,
      ])
    },
    async last() {
      const [row] = await db.query<{ started: number; differences: number }>(
        'select extract(epoch from compare_time)::float8 as started, differences from comparison',
      )
      return row && { startSeconds: row.started, differences: row.differences }
    },
  }
}
