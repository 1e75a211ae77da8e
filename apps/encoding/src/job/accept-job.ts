import type { Db, Outbox } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { sendFirstTask } from '../work/send-task.ts'
import { endJob } from './end-job.ts'
import { isUnderWay, type NewJob } from './job.ts'
import { insertJob, lockJob } from './job-store.ts'

/** Takes jobs in, and out again. */
export interface JobDesk {
  /** Repeating it changes nothing, and neither does it for a job that was cancelled before it came. */
  accept(job: NewJob, signal?: AbortSignal): Promise<void>
  /** Ends a job that is under way; one that never came is noted, so that it ends when it comes; a finished one is looked at again soon. */
  cancel(jobId: string, signal?: AbortSignal): Promise<void>
}

export function createJobDesk(tools: { db: Db; queue: Queue; outbox: Outbox }): JobDesk {
  const { db, queue } = tools
  return {
    accept: (job, signal) =>
      db.transaction(async (tx) => {
        if (await insertJob(tx, job)) await sendFirstTask(tx, queue, job)
      }, signal),
    cancel: (jobId, signal) =>
      db.transaction(async (tx) => {
        // Inserted first: a job that comes at the same time is then either found below, or finds this row.
        await insertJob(tx, { jobId, kind: 'renditions', mediaId: '', organisationId: '', sourceUrl: '' }, 'cancelled')
        const job = await lockJob(tx, jobId)
        if (job && isUnderWay(job.state)) await endJob(tx, tools, job, { state: 'cancelled' })
        else await tx.query(`update job set check_time = 'epoch' where job_id = $1 and not is_dropped`, [jobId])
      }, signal),
  }
}
