import type { Transaction } from '@vitascope/postgres'
import type { Queue, QueueItem } from '@vitascope/queue'
import { removeChunks, resetChunks } from '../job/chunk-store.ts'
import { type Job, requirePlan } from '../job/job.ts'
import { startNewPlan, updateJob } from '../job/job-store.ts'
import { dropPrefixes } from '../objects/object-prefix.ts'
import type { Fault } from '../task/fault.ts'
import { sendChunk, sendTask } from './send-task.ts'

/** Returns true if the plan is for another build of ffmpeg or another version of the planner. */
export function needsPlan({ code }: Fault): boolean {
  return code === 5005
}

export interface FailedAttempt {
  item: QueueItem
  fault: Fault
  /** Number of the next attempt. */
  attempt: number
  /** The next plan does not copy the video stream. */
  dropsCopy: boolean
}

/**
 * Prepares a job for its next attempt. Usually only the failed item is retried, but some faults
 * require a return to an earlier step.
 */
export async function retryJob(tx: Transaction, queue: Queue, job: Job, { item, fault, attempt, dropsCopy }: FailedAttempt): Promise<void> {
  const { jobId } = job
  if (dropsCopy || needsPlan(fault)) {
    // Chunks of two plans are never joined. The job restarts with a plan for the current build.
    await startNewPlan(tx, { jobId, canCopyVideo: job.canCopyVideo && !dropsCopy })
    await updateJob(tx, jobId, { state: 'probing', attempt })
    await queue.cancel(tx, item.key)
    for (const { fence } of await resetChunks(tx, jobId)) if (fence > 0) await dropPrefixes(tx, jobId, { fence })
    await removeChunks(tx, jobId)
    await sendTask(tx, queue, job, 'probe')
    return
  }
  if (item.kind === 'package' && fault.code === 5003) {
    // A set that fails its verification was made from segments that cannot be trusted, so they are
    // encoded again.
    await updateJob(tx, jobId, { state: 'encoding', attempt })
    await queue.cancel(tx, item.key)
    for (const { chunk, fence } of await resetChunks(tx, jobId)) {
      if (fence > 0) await dropPrefixes(tx, jobId, { fence })
      await sendChunk(tx, queue, job, requirePlan(job), chunk)
    }
    return
  }
  await updateJob(tx, jobId, { attempt })
}
