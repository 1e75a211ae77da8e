import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { JobCommands } from '../engine/accept-job.ts'
import { isActive, type JobState } from '../job/job.ts'
import { dropJob } from '../objects/object-prefix.ts'

interface Tools {
  db: Db
  jobCommands: JobCommands
  jobs: Client<typeof JobServiceService>
  /** Minimum time between the first response that a job is not needed and its removal. */
  graceMs: number
  /**
   * Calls per pass, each for a thousand jobs. The default of two is 200 jobs per second at the
   * default interval of 10 s.
   */
  calls?: number
}

const JOBS_PER_CALL = 1_000
const CALLS_PER_PASS = 2

/**
 * Checks with the catalogue which jobs it still needs, in the order of the last check. A job that
 * it did not need in any check for `graceMs` is cancelled, or its objects are dropped. A single
 * response is not sufficient, because it may be a mistake. Returns the ids of these jobs.
 */
export async function removeUnneededJobs(tools: Tools, signal: AbortSignal): Promise<string[]> {
  const dropped: string[] = []
  for (let call = 0; call < (tools.calls ?? CALLS_PER_PASS); call++) {
    const dueJobs = await findDueJobs(tools)
    if (dueJobs.length === 0) break
    dropped.push(...(await checkJobs(tools, dueJobs, signal)))
    if (dueJobs.length < JOBS_PER_CALL) break
  }
  return dropped
}

function findDueJobs({ db, graceMs }: Tools): Promise<{ job_id: string; state: JobState }[]> {
  // The transaction of the catalogue that created a recent job may not be committed yet.
  return db.query(
    `select job_id, state from job where not is_dropped and check_time < now() - $1 * interval '1 millisecond'
       and (finish_time is not null or create_time < now() - interval '1 minute')
     order by check_time limit $2`,
    [graceMs, JOBS_PER_CALL],
  )
}

async function checkJobs(
  { db, jobCommands, jobs, graceMs }: Tools,
  dueJobs: readonly { job_id: string; state: JobState }[],
  signal: AbortSignal,
) {
  const { neededJobIds } = await jobs.checkJobs({ jobIds: dueJobs.map((job) => job.job_id) }, serviceCall('encoding', randomUUID(), signal))
  const needed = new Set(neededJobIds)
  const ids = dueJobs.map((job) => job.job_id)
  await db.query('update job set check_time = now(), unneeded_time = null where job_id = any($1) and job_id = any($2)', [ids, [...needed]])
  const unneeded = await db.query<{ job_id: string; is_sure: boolean }>(
    `update job set check_time = now(), unneeded_time = coalesce(unneeded_time, now()) where job_id = any($1) and not job_id = any($2)
     returning job_id, unneeded_time <= now() - $3 * interval '1 millisecond' as is_sure`,
    [ids, [...needed], graceMs],
  )
  const sure = unneeded.filter((job) => job.is_sure).map((job) => job.job_id)
  for (const jobId of sure) {
    const state = dueJobs.find((job) => job.job_id === jobId)?.state
    if (state && isActive(state)) await jobCommands.cancel(jobId, signal)
    else await dropJob(db, jobId)
  }
  return sure
}
