import type { Db } from '@vitascope/postgres'
import { workLimits } from '../../quota/quota.ts'
import { type Enqueue, enqueueCreated, JOB_CREATED } from './job-messages.ts'

/** An active job that has not reported for some time. */
export interface StaleJob {
  jobId: string
  mediaId: string
  organisationId: string
  sourceUrl: string
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  lowPriority: boolean
  rendition?: { setJobId: string; profileId: number } | undefined
  sends: number
}

export interface StaleJobs<Job extends { jobId: string; sends: number } = StaleJob> {
  /**
   * Claims up to 50 jobs that have not reported for `staleSeconds`, and hides them from other
   * replicas for the same time.
   */
  claim(staleSeconds: number): Promise<Job[]>
  /** Sends a job to encoding again, unless a message is pending in the outbox or the job is no longer active. */
  sendAgain(job: Job): Promise<void>
  /** Records that encoding reports the job as ended. Returns the seconds since this was first recorded. */
  ended(jobId: string): Promise<number>
  /** Records that encoding works on the job. */
  alive(jobId: string): Promise<void>
}

export function createStaleJobs(db: Db, enqueue: Enqueue): StaleJobs {
  return {
    async claim(staleSeconds) {
      const rows = await db.query<StaleRow>(
        `update job set check_time = now() where job_id in (
           select job_id from job where state in ('queued', 'running') and check_time < now() - $1 * interval '1 second'
           order by check_time limit 50 for update skip locked)
         returning job_id, media_id, organisation_id, source_url, max_bytes, max_ms, set_job_id, profile_id, low_priority, send_count`,
        [staleSeconds],
      )
      return rows.map((row) => ({
        jobId: row.job_id,
        mediaId: row.media_id,
        organisationId: row.organisation_id,
        sourceUrl: row.source_url,
        lowPriority: row.low_priority,
        ...workLimits({ maxBytes: numberOf(row.max_bytes), maxMs: numberOf(row.max_ms) }),
        ...(row.set_job_id !== null && row.profile_id !== null && { rendition: { setJobId: row.set_job_id, profileId: row.profile_id } }),
        sends: row.send_count,
      }))
    },
    sendAgain: (job) =>
      db.transaction(async (tx) => {
        const rows = await tx.query(
          `update job set send_count = send_count + 1, ended_since = null
           where job_id = $1 and state in ('queued', 'running') and not exists (
             select from outbox where key = $2 and topic = $3 and payload ->> 'jobId' = $1::text and dead_time is null)
           returning job_id`,
          [job.jobId, `media:${job.mediaId}`, JOB_CREATED],
        )
        if (rows.length > 0) await enqueueCreated(enqueue, tx, job)
      }),
    async ended(jobId) {
      // The column is rounded to milliseconds, so it can be up to half a millisecond in the future.
      const [row] = await db.query<{ seconds: number }>(
        `update job set ended_since = coalesce(ended_since, now()) where job_id = $1
         returning greatest(0, extract(epoch from now() - ended_since))::float8 as seconds`,
        [jobId],
      )
      return row?.seconds ?? 0
    },
    async alive(jobId) {
      await db.query(
        'update job set ended_since = null, send_count = 0 where job_id = $1 and (ended_since is not null or send_count > 0)',
        [jobId],
      )
    },
  }
}

interface StaleRow {
  job_id: string
  media_id: string
  organisation_id: string
  source_url: string
  max_bytes: string | null
  max_ms: string | null
  set_job_id: string | null
  profile_id: number | null
  send_count: number
  low_priority: boolean
}

function numberOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
