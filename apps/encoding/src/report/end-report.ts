import { randomUUID } from 'node:crypto'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { Db, OutboxHandlers } from '@vitascope/postgres'
import type { JobServiceService, ReportJobRequest } from '@vitascope/proto/catalogue/v1/job'
import { RenditionSet } from '@vitascope/proto/catalogue/v1/rendition'
import { SlideSet } from '@vitascope/proto/catalogue/v1/slide_set'
import type { ReachPoint } from '../crash-point.ts'
import { JOB_ENDED, type JobEnded } from '../job/end-job.ts'
import type { Job } from '../job/job.ts'
import { readJob } from '../job/job-store.ts'
import { dropJob } from '../objects/drop-job.ts'

/** Sends how a job ended; sent again, it changes nothing. */
export function endReports({ db, jobs, reach }: { db: Db; jobs: Client<typeof JobServiceService>; reach: ReachPoint }): OutboxHandlers {
  return {
    [JOB_ENDED]: async ({ jobId, revision }: JobEnded, signal: AbortSignal) => {
      const job = await readJob(db.query, jobId)
      const news = job && newsOf(job)
      if (!news) return
      const call = serviceCall('encoding', randomUUID(), signal)
      const wanted = await jobs.reportJob({ jobId, revision: Number(revision), news }, call).then(
        (answer) => answer.wanted,
        (error: unknown) => {
          // There never was such a job: nobody will ever ask for what was made of it.
          if (isDomainError(error) && error.reason === 'JOB_NOT_FOUND') return false
          throw error
        },
      )
      reach('report-sent')
      if (!wanted) await dropJob(db, jobId)
    },
  }
}

function newsOf(job: Job): ReportJobRequest['news'] {
  if (job.state === 'ok' && job.kind === 'slides') {
    return { $case: 'slidesMade', value: { slides: SlideSet.fromPartial(job.result as SlideSet) } }
  }
  if (job.state === 'ok') return { $case: 'published', value: { renditions: RenditionSet.fromPartial(job.result as RenditionSet) } }
  if (job.state === 'failed') return { $case: 'failed', value: { code: job.code, message: job.message } }
  return undefined
}
