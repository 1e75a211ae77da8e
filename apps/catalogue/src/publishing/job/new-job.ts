import type { Transaction } from '@vitascope/postgres'
import type { Reservation } from '../../quota/quota.ts'
import type { Job } from './job.ts'

export interface NewJob {
  videoId: string
  mediaId: string
  organisationId: string
  action: Job['action']
  progress: number
  sourceUrl: string
  notify: boolean
  userId: string
  /** Jobs with normal priority run first, until this job has waited for VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS. */
  lowPriority?: boolean
  /** Id of the encoding format of an `add_rendition` job. */
  profileId?: number
  /** Id of the job that created the rendition set to which an `add_rendition` job adds its rendition. */
  setJobId?: string
  /** The result of `reserve` in the same transaction. */
  reserved: Reservation
}

export async function insertJob(tx: Transaction, { reserved, ...job }: NewJob): Promise<string> {
  const [row] = await tx.query<{ job_id: string }>(
    `insert into job (video_id, media_id, organisation_id, action, state, progress, source_url, notify, user_id, profile_id, set_job_id,
       reserved_bytes, reserved_ms, quota_bytes, quota_ms, max_bytes, max_ms, low_priority)
     values ($1, $2, $3, $4, 'queued', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) returning job_id`,
    [
      ...[job.videoId, job.mediaId, job.organisationId, job.action, job.progress, job.sourceUrl, job.notify, job.userId],
      ...[job.profileId, job.setJobId],
      ...[reserved.bytes, reserved.ms, reserved.quotaBytes, reserved.quotaMs, reserved.maxBytes, reserved.maxMs],
      job.lowPriority ?? false,
    ],
  )
  if (!row) throw new Error('the insert of a job returned no row')
  return row.job_id
}

/** Stores a failed job for work that could not be started, so that callers can read the reason. */
export async function insertFailedJob(
  tx: Transaction,
  { code, message, ...job }: Omit<NewJob, 'reserved'> & { code: number; message: string },
): Promise<void> {
  const jobId = await insertJob(tx, { ...job, reserved: { bytes: 0, ms: 0 } })
  await tx.query(`update job set state = 'failed', code = $2, message = $3, finish_time = now() where job_id = $1`, [jobId, code, message])
}
