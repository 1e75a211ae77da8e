import type { Query, Transaction } from '@vitascope/postgres'
import { keyOfJob } from '../job/job.ts'

/** Notes that a lease of a chunk begins now. */
export async function beginChunk(tx: Transaction, jobId: string, chunk: number): Promise<void> {
  await tx.query('update chunk set begin_time = now() where job_id = $1 and chunk = $2', [jobId, chunk])
}

/** How far each chunk of a job is, 0 to 1, by its number; the sound of the whole is the last. */
export async function readChunkProgress(query: Query, jobId: string): Promise<number[]> {
  const rows = await query<{ done: number }>('select done from chunk where job_id = $1 order by chunk', [jobId])
  return rows.map(({ done }) => done)
}

/** What stands between now and the end of the chunks of a job. */
interface WorkAhead {
  /** Expected processor seconds: of the chunks that are before the job's last one in the line or in hand, its own among them. */
  weight: number
  /** Tasks in hand: so many are done at once. */
  hands: number
}

/**
 * Seconds from now until all chunks of a job are made, if no more work comes that is served before it. Counts what stands before its last chunk
 * in the line, at the speed of the chunks that were made within the last hour; without any, one processor second takes one second.
 */
export async function secondsToGo(query: Query, jobId: string): Promise<number> {
  const { weight, hands } = await workAhead(query, jobId)
  return weight / ((await speedOfHand(query)) * Math.max(1, hands))
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
     select coalesce(sum(weight), 0)::float8 as weight, count(*) filter (where state = 'leased')::int as hands from ahead`,
    [keyOfJob(jobId), ['encode', 'audio']],
  )
  return row ?? { weight: 0, hands: 0 }
}

/** Expected processor seconds that one task in hand gets done in a second. */
async function speedOfHand(query: Query): Promise<number> {
  const [row] = await query<{ speed: number | null }>(
    `select sum(weight) / nullif(sum(extract(epoch from end_time - begin_time)), 0)::float8 as speed from (
       select weight, begin_time, end_time from chunk where end_time > now() - interval '1 hour' and begin_time < end_time
       order by end_time desc limit 50) as recent`,
  )
  return row?.speed || 1
}
