import type { Db } from '@vitascope/postgres'

/** The comparisons of counts with events, of all replicas together. */
export interface ComparisonStore {
  /**
   * One that is due: there was none since midnight (UTC), and nobody began one within the last hour, so that one that fails, or whose process dies, is tried
   * again. Undefined when there is nothing to do.
   */
  claim(): Promise<Claim | undefined>
  /** Notes that it came to its end; one that somebody else has claimed since is left alone. */
  save(claim: Claim, differences: number): Promise<void>
  /** The last that came to its end; undefined before the first look at what is due. */
  last(): Promise<{ beganSeconds: number; differences: number } | undefined>
}

export interface Claim {
  time: string
}

export function createComparisonStore(db: Db): ComparisonStore {
  return {
    async claim() {
      // Where nothing was compared yet, the next midnight is the first.
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
      const [row] = await db.query<{ began: number; differences: number }>(
        'select extract(epoch from compare_time)::float8 as began, differences from comparison',
      )
      return row && { beganSeconds: row.began, differences: row.differences }
    },
  }
}
