import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { type Job, keyOfJob } from '../job/job.ts'
import { startNewPlan } from '../job/job-store.ts'
import { dropPrefixes } from '../objects/object-prefix.ts'
import { removeChunks } from './chunk-store.ts'
import { sendFirstTask } from './send-task.ts'

/**
 * The work for a locked job, which is under way, begins anew, planned again: what was made is given up, and whoever still works for it has lost
 * his lease.
 */
export async function beginAgain(
  tx: Transaction,
  queue: Queue,
  job: Pick<Job, 'jobId' | 'organisationId' | 'kind' | 'givesWay' | 'copies'>,
): Promise<void> {
  await queue.cancel(tx, keyOfJob(job.jobId))
  await removeChunks(tx, job.jobId)
  await dropPrefixes(tx, job.jobId)
  await startNewPlan(tx, job)
  await sendFirstTask(tx, queue, job)
}
