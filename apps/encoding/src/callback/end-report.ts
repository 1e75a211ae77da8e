import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db, OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService, ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import { PosterSet } from '@vitascope/proto/catalogue/v1/poster_set'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import type { CrashPointHook } from '../common/crash-point.ts'
import { JOB_ENDED, type JobEnded } from '../engine/end-job.ts'
import { removeAllSegments } from '../job/chunk-store.ts'
import { isActive, type Job } from '../job/job.ts'
import { lockJob, readJob } from '../job/job-store.ts'
import { dropJob } from '../objects/object-prefix.ts'

/**
 * Returns the outbox handler that reports the end of a job to the catalogue. Repeating a report has
 * no effect.
 */
export function endReports({
  db,
  jobs,
  atCrashPoint,
}: {
  db: Db
  jobs: Client<typeof JobServiceService>
  atCrashPoint: CrashPointHook
}): OutboxHandlers {
  return {
    [JOB_ENDED]: async ({ jobId, revision }: JobEnded, signal: AbortSignal) => {
      const job = await readJob(db.query, jobId)
      const update = job && toUpdate(job)
      if (!update) return
      const call = serviceCall('encoding', randomUUID(), signal)
      const isNeeded = await jobs.reportJob({ jobId, revision: Number(revision), update }, call).then(
        ({ needed }) => needed,
        (error: unknown) => {
          // The catalogue does not know the job, so its objects will never be used.
          if (isDomainError(error) && error.reason === 'JOB_NOT_FOUND') return false
          throw error
        },
      )
      atCrashPoint('report-sent')
      if (!isNeeded) await dropJob(db, jobId)
      await removePreview(db, jobId)
    },
  }
}

/**
 * Removes the segments, of which the preview of the job consists. The catalogue has replaced the preview by the set. A job
 * that was restarted since keeps its new segments.
 */
function removePreview(db: Db, jobId: string): Promise<void> {
  return db.transaction(async (tx) => {
    const job = await lockJob(tx, jobId)
    if (job && !isActive(job.state)) await removeAllSegments(tx, jobId)
  })
}

function toUpdate(job: Job): ReportJobRequest['update'] {
  const { state, result } = job
  if (state === 'ok' && result) {
    if (job.kind === 'poster') return { $case: 'posterMade', value: { poster: PosterSet.fromPartial(result) } }
    return 'slides' in result
      ? { $case: 'slidesMade', value: { slides: SlideSet.fromPartial(result) } }
      : { $case: 'published', value: { renditions: RenditionSet.fromPartial(result) } }
  }
  if (state === 'failed') return { $case: 'failed', value: { code: job.code, message: job.message } }
  return undefined
}
