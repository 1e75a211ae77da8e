import type { Query } from '@vitascope/postgres'
import { toQueueKey } from '../job/job.ts'
import type { ChunkRun } from './chunk-run.ts'

/** A run that has not ended. Its open chunks are those whose tasks are waiting or leased. */
export interface OpenRun extends ChunkRun {
  /** Seconds since the last activity of any of its chunks. 0 while one is leased. */
  staleSeconds: number
  /** If true, it gets no Kubernetes Job while a run of normal priority is open. */
  lowPriority: boolean
}

const OPEN_CHUNKS = `from work_item w where w.kind = 'encode' and w.state in ('waiting', 'leased')`

/**
 * Ends the runs without open chunks, opens a run for each job whose open chunks have none, and
 * returns the open runs. Any replica may call this at any time.
 */
export async function openRuns(query: Query): Promise<OpenRun[]> {
  await query(
    `update chunk_run r set end_time = now() where end_time is null and not exists (select ${OPEN_CHUNKS} and w.key = 'job:' || r.job_id)`,
  )
  await query(
    `insert into chunk_run (job_id, chunks)
     select substr(w.key, 5)::bigint, array_agg(distinct (w.payload->>'chunk')::int order by (w.payload->>'chunk')::int) ${OPEN_CHUNKS}
       and not exists (select from chunk_run r where r.job_id = substr(w.key, 5)::bigint and r.end_time is null)
     group by w.key on conflict (job_id) where end_time is null do nothing`,
  )
  return query<OpenRun>(
    `select run_id as "runId", job_id as "jobId", chunks,
       case when exists (select from work_item w where w.key = 'job:' || r.job_id and w.kind = 'encode' and w.state = 'leased') then 0
       else extract(epoch from now() - greatest(r.create_time, (select max(greatest(c.begin_time, c.end_time)) from chunk c where c.job_id = r.job_id)))
       end::float8 as "staleSeconds",
       coalesce((select low_priority from job j where j.job_id = r.job_id), false) as "lowPriority"
     from chunk_run r where end_time is null order by run_id`,
  )
}

/** Ends a run. Returns true for the one caller that ended it. Open chunks go to the next run. */
export async function endRun(query: Query, { runId }: Pick<ChunkRun, 'runId'>): Promise<boolean> {
  return (await query('update chunk_run set end_time = now() where run_id = $1 and end_time is null returning 1', [runId])).length === 1
}

/** Ends the open run of a job, if there is one. */
export async function endRunOfJob(query: Query, jobId: string): Promise<void> {
  await query('update chunk_run set end_time = now() where job_id = $1 and end_time is null', [jobId])
}

/**
 * Returns the waiting tasks of these chunks of a run, or of the chunks that were started during it.
 */
export function openItems(query: Query, { runId, jobId }: ChunkRun, which: readonly number[] | 'started'): Promise<{ item_id: string }[]> {
  return query(
    `select w.item_id from chunk_run r join work_item w on w.key = $2 and w.kind = 'encode' and w.state = 'waiting'
       join chunk c on c.job_id = r.job_id and c.chunk = (w.payload->>'chunk')::int
     where r.run_id = $1 and case when $3::int[] is null then c.begin_time >= r.create_time
       else c.chunk = any($3) end`,
    [runId, toQueueKey(jobId), which === 'started' ? null : which],
  )
}

/**
 * Removes up to `limit` runs that ended more than a day ago, with the worker rows of their pods.
 * Returns the number of removed runs.
 */
export async function sweepRuns(query: Query, limit: number): Promise<number> {
  const [row] = await query<{ runs: number }>(
    String.raw`with ended as (
       delete from chunk_run where run_id in
         (select run_id from chunk_run where end_time < now() - interval '1 day' order by end_time limit $1)
       returning job_id || '-' || run_id as run
     ), pods as (
       delete from worker where substring(name from '-encode-(\d+-\d+)-\d+$') in (select run from ended)
     )
     select count(*)::int as runs from ended`,
    [limit],
  )
  return row?.runs ?? 0
}
