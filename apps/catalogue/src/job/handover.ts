import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { renditionRequest } from '../encoding-format/rendition-request.ts'
import { NOT_TAKEN } from '../media/status.ts'
import type { SlideJobRequest } from '../presentation/slide-job-messages.ts'
import { SLIDES_CREATED } from '../presentation/slide-job-messages.ts'
import type { SlideJobStore } from '../presentation/slide-job-store.ts'
import { JOB_CANCELLED, JOB_CREATED, type JobRequest } from './job-messages.ts'
import type { JobStore } from './job-store.ts'

/** Sends what the outbox holds; encoding takes each as often as it comes, with one effect. */
export function handoverHandlers(
  encoding: Client<typeof JobServiceService>,
  stores: { jobs: () => JobStore; slideJobs: () => SlideJobStore },
  log: Logger,
): OutboxHandlers {
  const { jobs, slideJobs } = stores
  return {
    async [JOB_CREATED](job: JobRequest, signal: AbortSignal) {
      try {
        const call = serviceCall('catalogue', `job-${job.jobId}`, signal)
        if (job.rendition) await encoding.createRenditionJob(renditionRequest(job, job.rendition), call)
        else await encoding.createJob(job, call)
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        // Asking again would not help, and nobody would tell the uploader.
        log.warn({ err: error, job_id: job.jobId }, 'encoding refused a job')
        await jobs().apply(job.jobId, { kind: 'failed', code: NOT_TAKEN, message: 'the job was refused by the encoder' }, undefined, signal)
      }
    },
    async [SLIDES_CREATED](job: SlideJobRequest, signal: AbortSignal) {
      try {
        await encoding.createSlideJob(job, serviceCall('catalogue', `job-${job.jobId}`, signal))
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        log.warn({ err: error, job_id: job.jobId }, 'encoding refused a job')
        const refused = { kind: 'failed', code: NOT_TAKEN, message: 'the job was refused by the encoder' } as const
        await slideJobs().apply(job.jobId, refused, undefined, signal)
      }
    },
    async [JOB_CANCELLED]({ jobId }: { jobId: string }, signal: AbortSignal) {
      await encoding.cancelJob({ jobId }, serviceCall('catalogue', `job-${jobId}`, signal))
    },
  }
}
