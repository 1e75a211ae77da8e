import type { Query, Transaction } from '@vitascope/postgres'
import type { Job } from '../job/job.ts'

/** Where one lease may put objects. Other leases have others, so that nobody writes over anybody, and late writers are found. */
export const prefixes = {
  source: (jobId: string, fence: number) => `source/${jobId}/${fence}`,
  work: (jobId: string, fence: number) => `work/${jobId}/${fence}`,
  /** What is published. */
  set: ({ kind, mediaId, jobId }: Pick<Job, 'kind' | 'mediaId' | 'jobId'>, fence: number) =>
    `${kind === 'slides' ? 'slides' : 'media'}/${mediaId}/${jobId}-${fence}`,
}

/** When a dropped prefix is swept again, in seconds after the sweep before: whoever lost his lease may be writing still, or stand still for long. */
const AGAIN_SECONDS = [10, 60, 900, 86_400]

/** Writes a prefix down; to be committed before anything is put below it. */
export async function claimPrefix(tx: Transaction, prefix: string, jobId: string, fence: number): Promise<void> {
  await tx.query('insert into object_prefix (prefix, job_id, fence) values ($1, $2, $3) on conflict (prefix) do nothing', [
    prefix,
    jobId,
    fence,
  ])
}

/** Gives up what a job has in storage: all of it, what one lease made, or all but one prefix. */
export async function dropPrefixes(tx: Transaction, jobId: string, which: { fence?: number; but?: string } = {}): Promise<void> {
  await tx.query(
    `update object_prefix set drop_time = now(), next_sweep = now()
     where job_id = $1 and drop_time is null and ($2::int is null or fence = $2) and ($3::text is null or prefix <> $3)`,
    [jobId, which.fence ?? null, which.but ?? null],
  )
}

/** Somebody who has lost this lease has just been heard of: what he may have put since the last sweep goes soon. */
export async function sweepSoon(query: Query, fence: number): Promise<void> {
  await query('update object_prefix set next_sweep = now() where fence = $1 and drop_time is not null', [fence])
}

/** Prefixes whose objects are to be removed now. */
export async function duePrefixes(query: Query, limit: number): Promise<string[]> {
  const rows = await query<{ prefix: string }>('select prefix from object_prefix where next_sweep <= now() order by next_sweep limit $1', [
    limit,
  ])
  return rows.map(({ prefix }) => prefix)
}

/** A prefix that cannot be swept lets the others go first. */
export async function postponeSweep(query: Query, prefix: string): Promise<void> {
  await query(`update object_prefix set next_sweep = now() + interval '1 minute' where prefix = $1`, [prefix])
}

/** Notes that a prefix was found empty, or made so; after the last sweep it is forgotten. */
export async function sweptPrefix(query: Query, prefix: string): Promise<void> {
  await query(
    `update object_prefix set sweeps = sweeps + 1, next_sweep = now() + ($2::int[])[sweeps + 1] * interval '1 second' where prefix = $1`,
    [prefix, AGAIN_SECONDS],
  )
  await query('delete from object_prefix where prefix = $1 and drop_time is not null and sweeps > $2', [prefix, AGAIN_SECONDS.length])
}
