import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { toRenditionRequest } from './encoding-format/rendition-request.ts'
import { JOB_CANCELLED, JOB_CREATED, type JobRequest } from './job/job-messages.ts'
import type { JobStore } from './job-store.ts'
import { JOB_REJECTED } from './media/status.ts'

/**
 * Returns the outbox handlers that send media jobs, and the cancellations of all jobs, to encoding.
 * Encoding handles repeated messages idempotently.
 */
export function sendToEncodingHandlers(encoding: Client<typeof JobServiceService>, jobs: () => JobStore, log: Logger): OutboxHandlers {
  return {
    async [JOB_CREATED](job: JobRequest, signal: AbortSignal) {
      try {
        const call = serviceCall('catalogue', `job-${job.jobId}`, signal)
        if (job.rendition) await encoding.createRenditionJob(toRenditionRequest(job, job.rendition), call)
        else await encoding.createJob(job, call)
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        // A retry would fail again, and without an update the uploader would never see the failure.
        log.warn({ err: error, job_id: job.jobId }, 'encoding rejected a job')
        await jobs().apply(job.jobId, { kind: 'failed', code: JOB_REJECTED, message: 'encoding rejected the job' }, undefined, signal)
      }
    },
    async [JOB_CANCELLED]({ jobId }: { jobId: string }, signal: AbortSignal) {
      await encoding.cancelJob({ jobId }, serviceCall('catalogue', `job-${jobId}`, signal))
    },
  }
}
