import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { JOB_REJECTED } from '../publishing/media/status.ts'
import { SLIDES_CREATED, type SlideJobRequest } from './slide-job-messages.ts'
import type { SlideJobStore } from './slide-job-store.ts'

/**
 * Returns the outbox handler that sends slide jobs to encoding. Encoding handles repeated messages
 * idempotently.
 */
export function sendSlidesToEncodingHandlers(
  encoding: Client<typeof JobServiceService>,
  slideJobs: () => SlideJobStore,
  log: Logger,
): OutboxHandlers {
  return {
    async [SLIDES_CREATED](job: SlideJobRequest, signal: AbortSignal) {
      try {
        await encoding.createSlideJob(job, serviceCall('catalogue', `job-${job.jobId}`, signal))
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        log.warn({ err: error, job_id: job.jobId }, 'encoding rejected a job')
        const failure = { kind: 'failed', code: JOB_REJECTED, message: 'encoding rejected the job' } as const
        await slideJobs().apply(job.jobId, failure, undefined, signal)
      }
    },
  }
}
