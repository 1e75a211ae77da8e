import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { UNKNOWN_SOURCE, workLimits } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { startRendition } from './encoding-format/start-renditions.ts'
import type { Job } from './job/job.ts'
import { type Enqueue, enqueueCreated } from './job/job-messages.ts'
import { insertJob } from './job/new-job.ts'
import { type LockedMedia, lockMedia, saveState } from './media/media-lock.ts'
import { acceptedStatus } from './media/status.ts'
import { firstVideoId } from './media/video-lock.ts'

/** The job to retry. The new job keeps the user of the first one, so the success mail goes to the uploader. */
export interface Retry {
  scope: Scope
  jobId: string
}

/** The new job. A repeated call with the same idempotency key returns the same job. */
export type RetriedJob = Pick<Job, 'jobId' | 'videoId' | 'mediaId' | 'action'>

export type RetryJob = (retry: Retry, call: Pick<Call, 'idempotency' | 'signal'>) => Promise<RetriedJob>

/**
 * Creates a new job from the source of a failed or cancelled job. Throws JOB_NOT_FOUND,
 * JOB_NOT_FAILED, JOB_OVERTAKEN, and the errors of `reserve`.
 */
export function createRetryJob(db: Db, enqueue: Enqueue): RetryJob {
  return ({ scope, jobId }, call) =>
    withIdempotency(db, call, jsonCodec<RetriedJob>(), async (tx) => {
      const { failed, media } = await lockFailed(tx, jobId, scope)
      // The video of the failed job may have been deleted.
      const videoId = await firstVideoId(tx, media.mediaId)
      const next =
        failed.action === 'add_rendition'
          ? await startRendition(tx, enqueue, media, { profileId: failed.profile_id ?? 0, userId: failed.user_id })
          : await startSetJob(tx, enqueue, failed, media, videoId)
      if (next === undefined) throw jobOvertaken('the media already has this rendition, or has no set to which it could be added')
      return { jobId: next, videoId, mediaId: failed.media_id, action: failed.action }
    })
}

interface FailedJob {
  media_id: string
  organisation_id: string
  action: Job['action']
  state: Job['state']
  source_url: string
  user_id: string
  notify: boolean
  low_priority: boolean
  profile_id: number | null
}

/**
 * Locks the media of a failed job and returns both. Throws JOB_OVERTAKEN if a later job of the same
 * kind was accepted.
 */
async function lockFailed(tx: Transaction, jobId: string, scope: Scope): Promise<{ failed: FailedJob; media: LockedMedia }> {
  const [job] = await tx.query<FailedJob>(
    `select media_id, organisation_id, action, state, source_url, user_id, notify, low_priority, profile_id from job
     where job_id = $1 and ($2::bigint is null or organisation_id = $2)`,
    [jobId, scope],
  )
  const media = job && (await lockMedia(tx, job.media_id, null))
  // The source URL is deleted with the media.
  if (!job || !media) throw notFound('job', jobId)
  const [now] = await tx.query<{ state: Job['state']; is_overtaken: boolean }>(
    `select state, exists (select from job l where l.media_id = j.media_id and l.job_id > j.job_id
       and case when j.action = 'add_rendition' then l.profile_id = j.profile_id else l.action <> 'add_rendition' end) as is_overtaken
     from job j where job_id = $1`,
    [jobId],
  )
  if (now?.state !== 'failed' && now?.state !== 'cancelled') {
    throw new DomainError('failed_precondition', 'JOB_NOT_FAILED', 'only a failed or cancelled job can be retried')
  }
  if (now.is_overtaken) throw jobOvertaken('a later job has replaced this one')
  return { failed: job, media }
}

async function startSetJob(
  tx: Transaction,
  enqueue: Enqueue,
  { action, source_url: sourceUrl, user_id: userId, notify, low_priority: lowPriority }: FailedJob,
  { mediaId, organisationId, renditions }: LockedMedia,
  videoId: string,
): Promise<string> {
  const status = acceptedStatus(false)
  const reserved = await reserve(tx, organisationId, { ...UNKNOWN_SOURCE, releasedBytes: renditions?.bytes ?? 0 })
  const { progress } = status
  const jobId = await insertJob(tx, {
    videoId,
    mediaId,
    organisationId,
    action,
    progress,
    sourceUrl,
    notify,
    lowPriority,
    userId,
    reserved,
  })
  await saveState(tx, mediaId, { status, renditions, preview: undefined })
  await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, lowPriority, ...workLimits(reserved) })
  return jobId
}

function jobOvertaken(message: string): DomainError {
  return new DomainError('failed_precondition', 'JOB_OVERTAKEN', message)
}
