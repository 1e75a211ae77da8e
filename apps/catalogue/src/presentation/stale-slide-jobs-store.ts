import type { Db } from '@vitascope/postgres'
import type { Enqueue } from '../publishing/job/job-messages.ts'
import type { StaleJobs } from '../publishing/job/stale-jobs-store.ts'
import { enqueueSlides, keyOf, SLIDES_CREATED, type SlideJobRequest } from './slide-job-messages.ts'

/** An active job that has not reported for some time. */
export interface StaleSlideJob extends SlideJobRequest {
  sends: number
}

interface Row {
  job_id: string
  presentation_id: string
  organisation_id: string
  source_object: string
  source_bytes: string
  send_count: number
}

export function createStaleSlideJobs(db: Db, enqueue: Enqueue): StaleJobs<StaleSlideJob> {
  return {
    async claim(staleSeconds) {
      const rows = await db.query<Row>(
        `update presentation_job set check_time = now() where job_id in (
           select job_id from presentation_job where state in ('queued', 'running') and check_time < now() - $1 * interval '1 second'
           order by check_time limit 50 for update skip locked)
         returning job_id, presentation_id, organisation_id, source_object, source_bytes, send_count`,
        [staleSeconds],
      )
      return rows.map((row) => ({
        jobId: row.job_id,
        presentationId: row.presentation_id,
        organisationId: row.organisation_id,
        sourceObject: row.source_object,
        sourceBytes: Number(row.source_bytes),
        sends: row.send_count,
      }))
    },
    sendAgain: (job) =>
      db.transaction(async (tx) => {
        const rows = await tx.query(
          `update presentation_job set send_count = send_count + 1, ended_since = null
           where job_id = $1 and state in ('queued', 'running') and not exists (
             select from outbox where key = $2 and topic = $3 and payload ->> 'jobId' = $1::text and dead_time is null)
           returning job_id`,
          [job.jobId, keyOf(job.presentationId), SLIDES_CREATED],
        )
        if (rows.length > 0) await enqueueSlides(enqueue, tx, job)
      }),
    async ended(jobId) {
      const [row] = await db.query<{ seconds: number }>(
        `update presentation_job set ended_since = coalesce(ended_since, now()) where job_id = $1
         returning greatest(0, extract(epoch from now() - ended_since))::float8 as seconds`,
        [jobId],
      )
      return row?.seconds ?? 0
    },
    async alive(jobId) {
      await db.query(
        'update presentation_job set ended_since = null, send_count = 0 where job_id = $1 and (ended_since is not null or send_count > 0)',
        [jobId],
      )
    },
  }
}
