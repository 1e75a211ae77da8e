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
  /** What the organisation's quota left for the source; absent for any. */
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  /** It waits for everybody else's. */
  givesWay?: boolean | undefined
  /** One rendition, to be added to the set of a job; it has no source of its own. */
  rendition?: { setJobId: string; profileId: number } | undefined
}

export function enqueueCreated(enqueue: Enqueue, tx: Transaction, request: JobRequest) {
  const { jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, givesWay, rendition } = request
  const payload = { jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, givesWay: givesWay || undefined, rendition }
  return enqueue(tx, { topic: JOB_CREATED, key: `media:${mediaId}`, payload })
}

export function enqueueCancelled(enqueue: Enqueue, tx: Transaction, { jobId, mediaId }: { jobId: string; mediaId: string }) {
  return enqueue(tx, { topic: JOB_CANCELLED, key: `media:${mediaId}`, payload: { jobId } })
}
