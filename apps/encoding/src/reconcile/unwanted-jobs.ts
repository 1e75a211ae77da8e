import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/catalogue/v1/job'
import type { JobDesk } from '../job/accept-job.ts'
import { isUnderWay, type JobState } from '../job/job.ts'
import { dropJob } from '../objects/drop-job.ts'

interface Tools {
  db: Db
  desk: JobDesk
  jobs: Client<typeof JobServiceService>
  /** How long "no" must have been the answer before anything is removed. */
  graceMs: number
  /** Of a pass, each for a thousand jobs; two by default, which is 200 jobs a second. */
  calls?: number
}

/** What one call may ask, and the calls of a pass. */
const JOBS_A_CALL = 1_000
const CALLS_A_PASS = 2

/**
 * Asks catalogue which jobs it still wants, those first that were asked about longest ago. What it does not want, twice in a row, is ended or
 * removed: once may be a mistake. Answers what was dropped.
 */
export async function dropUnwantedJobs(tools: Tools, signal: AbortSignal): Promise<string[]> {
  const dropped: string[] = []
  for (let call = 0; call < (tools.calls ?? CALLS_A_PASS); call++) {
    const asked = await due(tools)
    if (asked.length === 0) break
    dropped.push(...(await askAbout(tools, asked, signal)))
    if (asked.length < JOBS_A_CALL) break
  }
  return dropped
}

function due({ db, graceMs }: Tools): Promise<{ job_id: string; state: JobState }[]> {
  // A job that has just come may not be committed at its caller's yet.
  return db.query(
    `select job_id, state from job where not is_dropped and check_time < now() - $1 * interval '1 millisecond'
       and (finish_time is not null or create_time < now() - interval '1 minute')
     order by check_time limit $2`,
    [graceMs, JOBS_A_CALL],
  )
}

async function askAbout({ db, desk, jobs, graceMs }: Tools, asked: readonly { job_id: string; state: JobState }[], signal: AbortSignal) {
  const { wantedJobIds } = await jobs.checkJobs({ jobIds: asked.map((job) => job.job_id) }, serviceCall('encoding', randomUUID(), signal))
  const wanted = new Set(wantedJobIds)
  const ids = asked.map((job) => job.job_id)
  await db.query('update job set check_time = now(), unwanted_time = null where job_id = any($1) and job_id = any($2)', [ids, [...wanted]])
  const unwanted = await db.query<{ job_id: string; is_sure: boolean }>(
    `update job set check_time = now(), unwanted_time = coalesce(unwanted_time, now()) where job_id = any($1) and not job_id = any($2)
     returning job_id, unwanted_time <= now() - $3 * interval '1 millisecond' as is_sure`,
    [ids, [...wanted], graceMs],
  )
  const sure = unwanted.filter((job) => job.is_sure).map((job) => job.job_id)
  for (const jobId of sure) {
    const state = asked.find((job) => job.job_id === jobId)?.state
    if (state && isUnderWay(state)) await desk.cancel(jobId, signal)
    else await dropJob(db, jobId)
  }
  return sure
}
