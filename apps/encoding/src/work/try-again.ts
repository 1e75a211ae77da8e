import { type EncodePlan, hasCopy } from '@vitascope/media'
import type { Transaction } from '@vitascope/postgres'
import type { FoundItem, Queue } from '@vitascope/queue'
import type { Fault, Job } from '../job/job.ts'
import { moveJob, startNewPlan } from '../job/job-store.ts'
import { dropPrefixes } from '../objects/object-prefix.ts'
import { removeChunks, resetChunks } from './chunk-store.ts'
import { sendChunk, sendTask } from './send-task.ts'

/** A plan for another build of ffmpeg, or one that copies a picture that is faulty. */
export function needsPlan({ code }: Fault): boolean {
  return code === 5005 || code === 5007
}

/** Readies a job for its next attempt. Mostly the item that failed is simply tried again; some faults lie further back. */
export async function tryAgain(tx: Transaction, queue: Queue, job: Job, item: FoundItem, fault: Fault, attempt: number): Promise<void> {
  const { jobId } = job
  const isBadSet = item.kind === 'package' && fault.code === 5003
  const isBadCopy = fault.code === 5007 || (isBadSet && hasCopy(job.plan as EncodePlan))
  if (isBadCopy || needsPlan(fault)) {
    // Chunks of two plans are never joined: the job begins again with one for the build that is there now.
    await startNewPlan(tx, { jobId, copies: job.copies && !isBadCopy })
    await moveJob(tx, jobId, { state: 'probing', attempt })
    await queue.cancel(tx, item.key)
    for (const { fence } of await resetChunks(tx, jobId)) if (fence > 0) await dropPrefixes(tx, jobId, { fence })
    await removeChunks(tx, jobId)
    await sendTask(tx, queue, job, 'probe')
    return
  }
  if (isBadSet) {
    // A set that fails its verification was made of segments that are not to be trusted: they are made again.
    await moveJob(tx, jobId, { state: 'encoding', attempt })
    await queue.cancel(tx, item.key)
    for (const { chunk, fence } of await resetChunks(tx, jobId)) {
      if (fence > 0) await dropPrefixes(tx, jobId, { fence })
      await sendChunk(tx, queue, job, job.plan as EncodePlan, chunk)
    }
    return
  }
  await moveJob(tx, jobId, { attempt })
}
