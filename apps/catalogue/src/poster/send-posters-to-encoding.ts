import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { OutboxHandlers } from '@vitascope/postgres'
import type { CreatePosterJobRequest, JobServiceService } from '@vitascope/proto/encoding/v1/job'
import type { Logger } from '@vitascope/telemetry'
import { JOB_REJECTED } from '../publishing/media/status.ts'
import { POSTER_CREATED, type PosterJobRequest } from './poster-job-messages.ts'
import type { PosterStore } from './poster-store.ts'

/**
 * Returns the outbox handler that sends jobs of pictures to encoding. Encoding handles repeated
 * messages idempotently.
 */
export function sendPostersToEncodingHandlers(
  encoding: Client<typeof JobServiceService>,
  posters: () => Pick<PosterStore, 'apply'>,
  log: Logger,
): OutboxHandlers {
  return {
    async [POSTER_CREATED]({ sourceUrl = '', frame, ...job }: PosterJobRequest, signal: AbortSignal) {
      const source: CreatePosterJobRequest['source'] = frame ? { $case: 'frame', value: frame } : { $case: 'sourceUrl', value: sourceUrl }
      try {
        await encoding.createPosterJob({ ...job, source }, serviceCall('catalogue', `job-${job.jobId}`, signal))
      } catch (error) {
        if (!isDomainError(error) || error.kind !== 'invalid') throw error
        log.warn({ err: error, job_id: job.jobId }, 'encoding rejected a job')
        const failure = { kind: 'failed', code: JOB_REJECTED, message: 'encoding rejected the job' } as const
        await posters().apply(job.jobId, failure, undefined, signal)
      }
    },
  }
}
