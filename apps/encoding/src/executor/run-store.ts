import type { Query } from '@vitascope/postgres'
import { keyOfJob } from '../job/job.ts'
import type { Run } from './run.ts'

/** A run whose chunks are not all made. */
export interface OpenRun extends Run {
  /** Seconds since anything was heard of any of its chunks; 0 while one is leased. */
  quietSeconds: number
  /** No Job is made for it while there is a run that does not give way. */
  givesWay: boolean
}

const OPEN_CHUNKS = `from work_item w where w.kind = 'encode' and w.state in ('waiting', 'leased')`

/**
 * Ends the runs that nothing is left to do for, begins one for each job with chunks that no run is for, and answers those that there are. Any
 * replica may do so at any time.
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
       end::float8 as "quietSeconds",
       coalesce((select gives_way from job j where j.job_id = r.job_id), false) as "givesWay"
     from chunk_run r where end_time is null order by run_id`,
  )
}

/** Ends a run; true for the one caller who did. Whatever is still to be made is for the next one. */
export async function endRun(query: Query, { runId }: Pick<Run, 'runId'>): Promise<boolean> {
  return (await query('update chunk_run set end_time = now() where run_id = $1 and end_time is null returning 1', [runId])).length === 1
}

/** Ends the run of a job. */
export async function endRunOf(query: Query, jobId: string): Promise<void> {
  await query('update chunk_run set end_time = now() where job_id = $1 and end_time is null', [jobId])
}

/** The open tasks of these chunks of a run, or of those that were begun in its time. */
export function openItems(query: Query, { runId, jobId }: Run, which: readonly number[] | 'begun'): Promise<{ item_id: string }[]> {
  return query(
    `select w.item_id from chunk_run r join work_item w on w.key = $2 and w.kind = 'encode' and w.state = 'waiting'
       join chunk c on c.job_id = r.job_id and c.chunk = (w.payload->>'chunk')::int
     where r.run_id = $1 and case when $3::int[] is null then c.begin_time >= r.create_time
       else c.chunk = any($3) end`,
    [runId, keyOfJob(jobId), which === 'begun' ? null : which],
  )
}

/** Forgets runs that ended a day ago, and their pods as workers. */
export async function sweepRuns(query: Query): Promise<void> {
  const ended = await query<{ run: string }>(
    `delete from chunk_run where end_time < now() - interval '1 day' returning job_id || '-' || run_id as run`,
  )
  if (ended.length === 0) return
  await query(String.raw`delete from worker where substring(name from '-encode-(\d+-\d+)-\d+$') = any($1)`, [ended.map(({ run }) => run)])
}
