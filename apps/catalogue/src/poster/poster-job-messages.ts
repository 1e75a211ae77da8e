import type { Transaction } from '@vitascope/postgres'
import { type Enqueue, toOutboxKey } from '../publishing/job/job-messages.ts'

/**
 * Topic of outbox messages to encoding about pictures. They are in order with the other messages of
 * the media. A cancellation has the same topic as for other jobs.
 */
export const POSTER_CREATED = 'poster.created'

export interface PosterJobRequest {
  jobId: string
  mediaId: string
  organisationId: string
  /** A URL, or else a frame of the set of a job. */
  sourceUrl?: string | undefined
  frame?: { setJobId: string; atSeconds: number } | undefined
}

export function enqueuePoster(enqueue: Enqueue, tx: Transaction, request: PosterJobRequest) {
  const { jobId, mediaId, organisationId, sourceUrl, frame } = request
  const payload = { jobId, mediaId, organisationId, sourceUrl, frame }
  return enqueue(tx, { topic: POSTER_CREATED, key: toOutboxKey(mediaId), payload })
}
