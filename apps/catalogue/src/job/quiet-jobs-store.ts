import type { Db } from '@vitascope/postgres'
import { workLimits } from '../quota/quota.ts'
import { type Enqueue, enqueueCreated, JOB_CREATED } from './job-messages.ts'

/** A job that stands, but of which nothing was heard for a while. */
export interface QuietJob {
  jobId: string
  mediaId: string
  organisationId: string
  sourceUrl: string
  maxBytes?: number | undefined
  maxSeconds?: number | undefined
  givesWay: boolean
  rendition?: { setJobId: string; profileId: number } | undefined
  handovers: number
}

export interface QuietJobs<Job extends { jobId: string; handovers: number } = QuietJob> {
  /** Takes up to 50 jobs that were quiet for so long; no other replica takes them for as long again. */
  claim(quietSeconds: number): Promise<Job[]>
  /** Hands a job to encoding once more, unless that is under way or the job stands no longer. */
  handOver(job: Job): Promise<void>
  /** Notes that encoding says the job has ended; answers for how many seconds it has said so. */
  ended(jobId: string): Promise<number>
  /** Notes that encoding works on it. */
  alive(jobId: string): Promise<void>
}

export function createQuietJobs(db: Db, enqueue: Enqueue): QuietJobs {
  return {
    async claim(quietSeconds) {
      const rows = await db.query<QuietRow>(
        `update job set news_time = now() where job_id in (
           select job_id from job where state in ('queued', 'running') and news_time < now() - $1 * interval '1 second'
           order by news_time limit 50 for update skip locked)
         returning job_id, media_id, organisation_id, source_url, max_bytes, max_ms, set_job_id, profile_id, gives_way, handovers`,
        [quietSeconds],
      )
      return rows.map((row) => ({
        jobId: row.job_id,
        mediaId: row.media_id,
        organisationId: row.organisation_id,
        sourceUrl: row.source_url,
        givesWay: row.gives_way,
        ...workLimits({ maxBytes: numberOf(row.max_bytes), maxMs: numberOf(row.max_ms) }),
        ...(row.set_job_id !== null && row.profile_id !== null && { rendition: { setJobId: row.set_job_id, profileId: row.profile_id } }),
        handovers: row.handovers,
      }))
    },
    handOver: (job) =>
      db.transaction(async (tx) => {
        const rows = await tx.query(
          `update job set handovers = handovers + 1, ended_since = null
           where job_id = $1 and state in ('queued', 'running') and not exists (
             select from outbox where key = $2 and topic = $3 and payload ->> 'jobId' = $1::text and dead_time is null)
           returning job_id`,
          [job.jobId, `media:${job.mediaId}`, JOB_CREATED],
        )
        if (rows.length > 0) await enqueueCreated(enqueue, tx, job)
      }),
    async ended(jobId) {
      // The column is rounded to milliseconds: a moment ago may be in half a one.
      const [row] = await db.query<{ seconds: number }>(
        `update job set ended_since = coalesce(ended_since, now()) where job_id = $1
         returning greatest(0, extract(epoch from now() - ended_since))::float8 as seconds`,
        [jobId],
      )
      return row?.seconds ?? 0
    },
    async alive(jobId) {
      await db.query('update job set ended_since = null, handovers = 0 where job_id = $1 and (ended_since is not null or handovers > 0)', [
        jobId,
      ])
    },
  }
}

interface QuietRow {
  job_id: string
  media_id: string
  organisation_id: string
  source_url: string
  max_bytes: string | null
  max_ms: string | null
  set_job_id: string | null
  profile_id: number | null
  handovers: number
  gives_way: boolean
}

function numberOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
