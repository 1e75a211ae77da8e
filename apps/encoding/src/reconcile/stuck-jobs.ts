import type { Db } from '@vitascope/postgres'
import { type EndTools, endJob } from '../engine/end-job.ts'
import { replanJob } from '../engine/replan-job.ts'
import { ACTIVE_STATES, afterFault, isActive } from '../job/job.ts'
import { lockJob, updateJob } from '../job/job-store.ts'

const HAS_NO_WORK_ITEM = `not exists (select 1 from work_item w where w.key = 'job:' || j.job_id and w.state in ('waiting', 'leased'))`

/**
 * Restarts active jobs without work items, or fails them after their last attempt. Every step
 * queues the next task in its own transaction, so such jobs exist only after a partial restore. The
 * restart counts as an attempt. Returns the ids of the jobs that were restarted or failed.
 */
export async function restartStuckJobs(tools: EndTools & { db: Db }): Promise<string[]> {
  const { db, queue } = tools
  const stuck = await db.query<{ job_id: string }>(
    `select job_id from job j where state = any($1) and create_time < now() - interval '30 seconds' and ${HAS_NO_WORK_ITEM} limit 100`,
    [ACTIVE_STATES],
  )
  const changed: string[] = []
  for (const { job_id: jobId } of stuck) {
    const isChanged = await db.transaction(async (tx) => {
      const job = await lockJob(tx, jobId)
      const withoutWork = await tx.query(`select 1 from job j where job_id = $1 and ${HAS_NO_WORK_ITEM}`, [jobId])
      if (!job || !isActive(job.state) || withoutWork.length === 0) return false
      const fault = { code: 5000, message: 'the tasks of this job were lost' }
      const decision = afterFault({ attempt: job.attempt, storageFaults: 0 }, fault, 0)
      if (decision.next === 'failed') {
        await endJob(tx, tools, job, { state: 'failed', ...fault })
        return true
      }
      await updateJob(tx, jobId, { state: 'queued', attempt: decision.attempt })
      await replanJob(tx, queue, job)
      return true
    })
    if (isChanged) changed.push(jobId)
  }
  return changed
}
