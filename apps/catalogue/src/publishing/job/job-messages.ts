import type { Outbox, Transaction } from '@vitascope/postgres'

/** Topics of outbox messages to encoding. Messages of one media are sent in order. */
export const JOB_CREATED = 'job.created'
export const JOB_CANCELLED = 'job.cancelled'

/** Adds messages to the outbox, in the transaction of their cause. */
export type Enqueue = Outbox['enqueue']

export interface JobRequest {
  jobId: string
  mediaId: string
  organisationId: string
  sourceUrl: string
  /** The remaining quota of the organisation. Undefined if there is no limit. */
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  /** Jobs with normal priority run first, until this job has waited for VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS. */
  lowPriority?: boolean | undefined
  /** The rendition to add to the set of a job. It is encoded from the source of that job. */
  rendition?: { setJobId: string; profileId: number } | undefined
}

export function enqueueCreated(enqueue: Enqueue, tx: Transaction, request: JobRequest) {
  const { jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, lowPriority, rendition } = request
  const payload = { jobId, mediaId, organisationId, sourceUrl, maxBytes, maxSeconds, lowPriority: lowPriority || undefined, rendition }
  return enqueue(tx, { topic: JOB_CREATED, key: toOutboxKey(mediaId), payload })
}

export function enqueueCancelled(enqueue: Enqueue, tx: Transaction, { jobId, mediaId }: { jobId: string; mediaId: string }) {
  return enqueue(tx, { topic: JOB_CANCELLED, key: toOutboxKey(mediaId), payload: { jobId } })
}

/** Returns the ordering key of the messages about a media. */
export function toOutboxKey(mediaId: string): string {
  return `media:${mediaId}`
}
