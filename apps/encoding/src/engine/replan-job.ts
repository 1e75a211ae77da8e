import type { Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { removeChunks } from '../job/chunk-store.ts'
import { type Job, toQueueKey } from '../job/job.ts'
import { startNewPlan } from '../job/job-store.ts'
import { dropPrefixes } from '../objects/object-prefix.ts'
import { sendFirstTask } from './send-task.ts'

/**
 * Restarts the work for a locked active job with a new plan. Existing results are dropped, and
 * leases on its tasks are lost.
 */
export async function replanJob(
  tx: Transaction,
  queue: Queue,
  job: Pick<Job, 'jobId' | 'organisationId' | 'kind' | 'sourceUrl' | 'lowPriority' | 'canCopyVideo'>,
): Promise<void> {
  await queue.cancel(tx, toQueueKey(job.jobId))
  await removeChunks(tx, job.jobId)
  await dropPrefixes(tx, job.jobId)
  await startNewPlan(tx, job)
  await sendFirstTask(tx, queue, job)
}
