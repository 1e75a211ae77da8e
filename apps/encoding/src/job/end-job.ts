import type { Outbox, Transaction } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import { dropPrefixes } from '../objects/object-prefix.ts'
import { type Job, keyOfJob } from './job.ts'
import { finishJob, nextRevision } from './job-store.ts'

/** How a job ends. */
export type JobEnd =
  /** `keepsSource`: it stays as long as the set, for what is made later. */
  | { state: 'ok'; result: unknown; prefix: string; keepsSource: boolean }
  | { state: 'failed'; code: number; message: string }
  | { state: 'cancelled' }

/** The outbox topic of the last report of a job. */
export const JOB_ENDED = 'job.ended'

export interface JobEnded {
  jobId: string
  revision: string
}

/**
 * Ends a job that is locked and under way: its state, its work, its objects and the report to catalogue change in one transaction, which is
 * fenced by whoever calls. Nothing is reported of a cancelled job: it was catalogue that did not want it any more.
 */
export async function endJob(tx: Transaction, tools: { queue: Queue; outbox: Outbox }, job: Job, end: JobEnd): Promise<void> {
  const { jobId } = job
  if (end.state === 'ok') {
    // Its work items are all done; they stay for a while, so that the worker who asks again is told that all is well.
    const revision = await finishJob(tx, jobId, { state: 'ok', code: 0, message: '', result: end.result })
    await dropPrefixes(tx, jobId, { but: [end.prefix, ...(end.keepsSource ? sourcePrefixes(job) : [])] })
    await report(tx, tools.outbox, { jobId, revision })
    return
  }
  const failure = end.state === 'failed' ? end : { code: 4005, message: 'cancelled' }
  const revision = await finishJob(tx, jobId, { state: end.state, code: failure.code, message: failure.message })
  await tools.queue.cancel(tx, keyOfJob(jobId))
  await dropPrefixes(tx, jobId)
  if (end.state === 'failed') await report(tx, tools.outbox, { jobId, revision })
}

/** Of a video alone: what one rendition or slides are made of lies elsewhere, and is kept by whoever put it there. */
function sourcePrefixes({ kind, source }: Job): string[] {
  return kind === 'renditions' && source ? [source.object.replace(/\/[^/]*$/, '')] : []
}

/** Reports the end of a job once more. */
export async function reportEnd(tx: Transaction, outbox: Outbox, jobId: string): Promise<void> {
  await report(tx, outbox, { jobId, revision: await nextRevision(tx, jobId) })
}

function report(tx: Transaction, outbox: Outbox, payload: JobEnded): Promise<void> {
  return outbox.enqueue(tx, { topic: JOB_ENDED, key: keyOfJob(payload.jobId), payload })
}
