import type { Transaction } from '@vitascope/postgres'
import { type Enqueue, JOB_CANCELLED } from '../publishing/job/job-messages.ts'

/**
 * Topic of outbox messages to encoding about slides. Messages of one presentation are sent in
 * order. A cancellation has the same topic as for other jobs.
 */
export const SLIDES_CREATED = 'slides.created'

export interface SlideJobRequest {
  jobId: string
  presentationId: string
  organisationId: string
  sourceObject: string
  sourceBytes: number
}

export function enqueueSlides(enqueue: Enqueue, tx: Transaction, request: SlideJobRequest) {
  const { jobId, presentationId, organisationId, sourceObject, sourceBytes } = request
  const payload = { jobId, presentationId, organisationId, sourceObject, sourceBytes }
  return enqueue(tx, { topic: SLIDES_CREATED, key: toOutboxKey(presentationId), payload })
}

export function enqueueSlidesCancelled(
  enqueue: Enqueue,
  tx: Transaction,
  { jobId, presentationId }: { jobId: string; presentationId: string },
) {
  return enqueue(tx, { topic: JOB_CANCELLED, key: toOutboxKey(presentationId), payload: { jobId } })
}

export function toOutboxKey(presentationId: string): string {
  return `presentation:${presentationId}`
}
