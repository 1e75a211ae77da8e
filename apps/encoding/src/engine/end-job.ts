import type { Outbox, Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { removeAllSegments } from '../job/chunk-store.ts'
import { type FinishedSet, type Job, toQueueKey } from '../job/job.ts'
import { finishJob, nextRevision } from '../job/job-store.ts'
import { dropPrefixes } from '../objects/object-prefix.ts'

/** How a job ends. */
export type JobEnd =
  /**
   * If `keepsSource` is true, the source is kept as long as the set, for renditions that are added
   * later.
   */
  | { state: 'ok'; result: FinishedSet; prefix: string; keepsSource: boolean }
  | { state: 'failed'; code: number; message: string }
  | { state: 'cancelled' }

/** Outbox topic of the final report of a job. */
export const JOB_ENDED = 'job.ended'

/** Dependencies of the functions that end a job. `onJobEnd` is called after the commit. */
export interface EndTools {
  queue: Queue
  outbox: Outbox
  onJobEnd?: ((job: Job, end: JobEnd) => void) | undefined
}

export interface JobEnded {
  jobId: string
  revision: string
}

/**
 * Ends a locked active job. Its state, work items, objects and the report to the catalogue change
 * in one transaction, which the caller fences. A cancelled job is not reported, because the
 * catalogue cancelled it.
 */
export async function endJob(tx: Transaction, tools: EndTools, job: Job, end: JobEnd): Promise<void> {
  const { jobId } = job
  tx.afterCommit(() => tools.onJobEnd?.(job, end))
  if (end.state === 'ok') {
    // All work items are complete. They are kept for a while, so that a worker that repeats its
    // result gets a success response.
    // The segments are removed after the report (`endReports`), because they are played until then.
    const revision = await finishJob(tx, jobId, { state: 'ok', code: 0, message: '', result: end.result })
    await dropPrefixes(tx, jobId, { except: [end.prefix, ...(end.keepsSource ? sourcePrefixes(job) : [])] })
    await enqueueReport(tx, tools.outbox, { jobId, revision })
    return
  }
  const failure = end.state === 'failed' ? end : { code: 4005, message: 'cancelled' }
  const revision = await finishJob(tx, jobId, { state: end.state, code: failure.code, message: failure.message })
  await tools.queue.cancel(tx, toQueueKey(jobId))
  await dropPrefixes(tx, jobId)
  await removeAllSegments(tx, jobId)
  if (end.state === 'failed') await enqueueReport(tx, tools.outbox, { jobId, revision })
}

/**
 * Returns the source prefix of a video job. The source of a single rendition or of slides belongs
 * to another owner.
 */
function sourcePrefixes({ kind, source }: Job): string[] {
  return kind === 'renditions' && source ? [source.object.replace(/\/[^/]*$/, '')] : []
}

/** Reports the end of a job again. */
export async function reportEnd(tx: Transaction, outbox: Outbox, jobId: string): Promise<void> {
  await enqueueReport(tx, outbox, { jobId, revision: await nextRevision(tx, jobId) })
}

function enqueueReport(tx: Transaction, outbox: Outbox, payload: JobEnded): Promise<void> {
  return outbox.enqueue(tx, { topic: JOB_ENDED, key: toQueueKey(payload.jobId), payload })
}
