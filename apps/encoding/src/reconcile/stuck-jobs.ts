import type { Db } from '@vitascope/postgres'
import { type EndTools, endJob } from '../engine/end-job.ts'
import { replanJob } from '../engine/replan-job.ts'
import { afterFault, isUnderWay, UNDER_WAY } from '../job/job.ts'
import { lockJob, moveJob } from '../job/job-store.ts'

const WITHOUT_WORK = `not exists (select 1 from work_item w where w.key = 'job:' || j.job_id and w.state in ('waiting', 'leased'))`

/**
 * Restarts active jobs without work items. Every step sends the next one in its own transaction, so
 * there should be none, but there may be after a partial restore. It counts as an attempt. Returns
 * their ids.
 */
export async function restartStuckJobs(tools: EndTools & { db: Db }): Promise<string[]> {
  const { db, queue } = tools
  const stuck = await db.query<{ job_id: string }>(
    `select job_id from job j where state = any($1) and create_time < now() - interval '30 seconds' and ${WITHOUT_WORK} limit 100`,
    [UNDER_WAY],
  )
  for (const { job_id: jobId } of stuck) {
    await db.transaction(async (tx) => {
      const job = await lockJob(tx, jobId)
      const still = await tx.query(`select 1 from job j where job_id = $1 and ${WITHOUT_WORK}`, [jobId])
      if (!job || !isUnderWay(job.state) || still.length === 0) return
      const fault = { code: 5000, message: 'the tasks of this job were lost' }
      const after = afterFault({ attempt: job.attempt, storageFaults: 0 }, fault, 0)
      if (after.next === 'failed') return endJob(tx, tools, job, { state: 'failed', ...fault })
      await moveJob(tx, jobId, { state: 'queued', attempt: after.attempt })
      await replanJob(tx, queue, job)
    })
  }
  return stuck.map((row) => row.job_id)
}
