import type { Outbox, Transaction } from '@vitascope/postgres'

/** What encoding must be told, in order per media. */
export const JOB_CREATED = 'job.created'
export const JOB_CANCELLED = 'job.cancelled'

/** Hands messages over in the transaction of their cause. */
export type Enqueue = Outbox['enqueue']

export interface JobRequest {
  jobId: string
  mediaId: string
  organisationId: string
  sourceUrl: string
}

export function enqueueCreated(enqueue: Enqueue, tx: Transaction, { jobId, mediaId, organisationId, sourceUrl }: JobRequest) {
  return enqueue(tx, { topic: JOB_CREATED, key: `media:${mediaId}`, payload: { jobId, mediaId, organisationId, sourceUrl } })
}

export function enqueueCancelled(enqueue: Enqueue, tx: Transaction, { jobId, mediaId }: { jobId: string; mediaId: string }) {
  return enqueue(tx, { topic: JOB_CANCELLED, key: `media:${mediaId}`, payload: { jobId } })
}
