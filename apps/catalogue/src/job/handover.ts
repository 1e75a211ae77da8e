import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Outbox, OutboxHandlers, Transaction } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { NOT_TAKEN } from '../media/status.ts'
import type { JobStore } from './job-store.ts'

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

/** Sends what the outbox holds; encoding takes each as often as it comes, with one effect. */
export function handoverHandlers(encoding: Client<typeof JobServiceService>, jobs: () => JobStore, log: Logger): OutboxHandlers {
  return {
    async [JOB_CREATED](job: JobRequest, signal: AbortSignal) {
      try {
        await encoding.createJob(job, serviceCall('catalogue', `job-${job.jobId}`, signal))
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        // Asking again would not help, and nobody would tell the uploader.
        log.warn({ err: error, job_id: job.jobId }, 'encoding refused a job')
        await jobs().apply(job.jobId, { kind: 'failed', code: NOT_TAKEN, message: 'the job was refused by the encoder' }, undefined, signal)
      }
    },
    async [JOB_CANCELLED]({ jobId }: { jobId: string }, signal: AbortSignal) {
      await encoding.cancelJob({ jobId }, serviceCall('catalogue', `job-${jobId}`, signal))
    },
  }
}
