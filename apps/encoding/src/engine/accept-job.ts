import { DomainError } from '@vitascope/errors'
import type { Db } from '@vitascope/postgres'
import { isActive, type NewJob } from '../job/job.ts'
import { insertJob, lockJob, readJob, reviveJob } from '../job/job-store.ts'
import { type EndTools, endJob, reportEnd } from './end-job.ts'
import { replanJob } from './replan-job.ts'
import { sendFirstTask } from './send-task.ts'

/** Accepts and cancels jobs. */
export interface JobCommands {
  /**
   * Accepts a job. It does nothing for a job that was accepted or cancelled before. Throws
   * JOB_ID_TAKEN if the id belongs to a job of another media. This happens if the catalogue's
   * database was restored from a backup and it assigns the same ids again.
   */
  accept(job: NewJob, signal?: AbortSignal): Promise<void>
  /**
   * Cancels an active job. An unknown job is recorded as cancelled, in case it arrives later. For a
   * finished job, the next reconciliation checks whether its objects are still needed.
   */
  cancel(jobId: string, signal?: AbortSignal): Promise<void>
  /**
   * Reports the end of a job again. It restarts a successful job whose rendition set was deleted.
   */
  repeatReport(jobId: string, signal?: AbortSignal): Promise<void>
}

export function createJobCommands(tools: EndTools & { db: Db }): JobCommands {
  const { db, queue } = tools
  return {
    accept: (job, signal) =>
      db.transaction(async (tx) => {
        if (await insertJob(tx, job)) return sendFirstTask(tx, queue, job)
        const existing = await readJob(tx.query, job.jobId)
        if (existing && existing.mediaId !== '' && existing.mediaId !== job.mediaId) {
          throw new DomainError('invalid', 'JOB_ID_TAKEN', `the id ${job.jobId} belongs to a job of another media`)
        }
      }, signal),
    cancel: (jobId, signal) =>
      db.transaction(async (tx) => {
        // The insert comes first: a job accepted concurrently is then either found below, or
        // conflicts with this row.
        await insertJob(tx, { jobId, kind: 'renditions', mediaId: '', organisationId: '', sourceUrl: '' }, 'cancelled')
        const job = await lockJob(tx, jobId)
        if (job && isActive(job.state)) await endJob(tx, tools, job, { state: 'cancelled' })
        else await tx.query(`update job set check_time = 'epoch' where job_id = $1 and not is_dropped`, [jobId])
      }, signal),
    repeatReport: (jobId, signal) =>
      db.transaction(async (tx) => {
        const job = await lockJob(tx, jobId)
        if (!job || isActive(job.state) || job.state === 'cancelled') return
        if (job.state === 'ok' && (await reviveJob(tx, jobId))) return replanJob(tx, queue, job)
        await reportEnd(tx, tools.outbox, jobId)
      }, signal),
  }
}
