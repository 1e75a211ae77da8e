import { DomainError } from '@vitascope/errors'
import type { Db, Outbox } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { beginAgain } from '../work/begin-again.ts'
import { sendFirstTask } from '../work/send-task.ts'
import { endJob, reportEnd } from './end-job.ts'
import { isUnderWay, type NewJob } from './job.ts'
import { insertJob, lockJob, readJob, reviveJob } from './job-store.ts'

/** Takes jobs in, and out again. */
export interface JobDesk {
  /**
   * Repeating it changes nothing, and neither does it for a job that was cancelled before it came. Refuses with JOB_ID_TAKEN: a caller
   * whose database went back in time may give out an id twice.
   */
  accept(job: NewJob, signal?: AbortSignal): Promise<void>
  /** Ends a job that is under way; one that never came is noted, so that it ends when it comes; a finished one is looked at again soon. */
  cancel(jobId: string, signal?: AbortSignal): Promise<void>
  /** Has the end of a job reported again; one whose set is gone begins again. */
  repeatReport(jobId: string, signal?: AbortSignal): Promise<void>
}

export function createJobDesk(tools: { db: Db; queue: Queue; outbox: Outbox }): JobDesk {
  const { db, queue } = tools
  return {
    accept: (job, signal) =>
      db.transaction(async (tx) => {
        if (await insertJob(tx, job)) return sendFirstTask(tx, queue, job)
        const known = await readJob(tx.query, job.jobId)
        if (known && known.mediaId !== '' && known.mediaId !== job.mediaId) {
          throw new DomainError('invalid', 'JOB_ID_TAKEN', `the id ${job.jobId} is that of a job for another media`)
        }
      }, signal),
    cancel: (jobId, signal) =>
      db.transaction(async (tx) => {
        // Inserted first: a job that comes at the same time is then either found below, or finds this row.
        await insertJob(tx, { jobId, kind: 'renditions', mediaId: '', organisationId: '', sourceUrl: '' }, 'cancelled')
        const job = await lockJob(tx, jobId)
        if (job && isUnderWay(job.state)) await endJob(tx, tools, job, { state: 'cancelled' })
        else await tx.query(`update job set check_time = 'epoch' where job_id = $1 and not is_dropped`, [jobId])
      }, signal),
    repeatReport: (jobId, signal) =>
      db.transaction(async (tx) => {
        const job = await lockJob(tx, jobId)
        if (!job || isUnderWay(job.state) || job.state === 'cancelled') return
        if (job.state === 'ok' && (await reviveJob(tx, jobId))) return beginAgain(tx, queue, job)
        await reportEnd(tx, tools.outbox, jobId)
      }, signal),
  }
}
