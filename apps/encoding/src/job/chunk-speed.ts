import type { Query, Transaction } from '@vitascope/postgres'
import { type Job, toQueueKey } from './job.ts'

/** Records that a lease of a chunk begins now. */
export async function beginChunk(tx: Transaction, jobId: string, chunk: number): Promise<void> {
  await tx.query('update chunk set begin_time = now() where job_id = $1 and chunk = $2', [jobId, chunk])
}

/** The progress of a job's chunks, and the seconds until the job is expected to end. */
export interface JobProgress {
  chunkProgress: number[]
  expectedSeconds: number | undefined
}

/** Cost of packaging (copy and verification), as a share of the cost of encoding. */
const PACKAGE_SHARE = 0.05

/** Returns the progress of each chunk of a job, and the expected remaining time. */
export async function readJobProgress(query: Query, { jobId, state, plan }: Job): Promise<JobProgress> {
  if (plan === undefined) return { chunkProgress: [], expectedSeconds: undefined }
  const chunkProgress = await readChunkProgress(query, jobId)
  if (state !== 'encoding' && state !== 'publishing') return { chunkProgress, expectedSeconds: undefined }
  const packaging = 1 + plan.expectedCpuSeconds * PACKAGE_SHARE
  return { chunkProgress, expectedSeconds: packaging + (state === 'encoding' ? await estimateSeconds(query, jobId) : 0) }
}

/**
 * Returns the progress of each chunk of a job, 0 to 1, in order. If the source has audio, the last
 * value is the progress of its audio.
 */
export async function readChunkProgress(query: Query, jobId: string): Promise<number[]> {
  const rows = await query<{ done: number }>('select done from chunk where job_id = $1 order by chunk', [jobId])
  return rows.map(({ done }) => done)
}

/** The work that must be done before all chunks of a job are encoded. */
interface WorkAhead {
  /**
   * Expected CPU seconds of all chunks that are leased or queued up to the job's last one,
   * including its own.
   */
  weight: number
  /** Leased tasks, which run concurrently. */
  leasedTasks: number
}

/**
 * Returns the seconds until all chunks of a job are encoded, if no work with higher precedence
 * arrives. It counts the work queued before the job's last chunk, at the speed of the last 50
 * chunks of the last hour. If there are none, it assumes one second for one CPU second.
 */
export async function estimateSeconds(query: Query, jobId: string): Promise<number> {
  const { weight, leasedTasks } = await workAhead(query, jobId)
  return weight / ((await measureTaskSpeed(query)) * Math.max(1, leasedTasks))
}

async function workAhead(query: Query, jobId: string): Promise<WorkAhead> {
  const [row] = await query<WorkAhead>(
    `with last as (
       select priority, turn, item_id from work_item where key = $1 and kind = any($2) and state = 'waiting'
       order by priority, turn desc, item_id desc limit 1),
     ahead as (
       select w.state, w.key, c.weight * (1 - c.done) as weight from work_item w
       join chunk c on c.job_id = substr(w.key, 5)::bigint and c.chunk = (w.payload->>'chunk')::int
       where w.kind = any($2) and (w.state = 'leased' and (w.key = $1 or exists (select from last))
         or w.state = 'waiting' and exists (select from last l where w.priority > l.priority
           or w.priority = l.priority and (w.turn, w.item_id) <= (l.turn, l.item_id))))
     select coalesce(sum(weight), 0)::float8 as weight, count(*) filter (where state = 'leased')::int as "leasedTasks" from ahead`,
    [toQueueKey(jobId), ['encode', 'audio']],
  )
  return row ?? { weight: 0, leasedTasks: 0 }
}

/** Returns the expected CPU seconds that one leased task completes per second. */
async function measureTaskSpeed(query: Query): Promise<number> {
  const [row] = await query<{ speed: number | null }>(
    `select sum(weight) / nullif(sum(extract(epoch from end_time - begin_time)), 0)::float8 as speed from (
       select weight, begin_time, end_time from chunk where end_time > now() - interval '1 hour' and begin_time < end_time
       order by end_time desc limit 50) as recent`,
  )
  return row?.speed || 1
}
