import { DomainError, notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { toJobLimits, URL_SOURCE_WORK } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { countReplacedBytes } from './encoding-format/add-rendition.ts'
import { startRendition } from './encoding-format/start-renditions.ts'
import type { Job } from './job/job.ts'
import { type Enqueue, enqueueCreated } from './job/job-messages.ts'
import { insertJob } from './job/new-job.ts'
import { type LockedMedia, lockMedia, saveState } from './media/media-lock.ts'
import { createAcceptedStatus } from './media/status.ts'
import { findFirstVideoId } from './media/video-lock.ts'

/** The job to retry. The new job has the same user, so that the success mail is sent to the uploader. */
export interface RetryRequest {
  scope: Scope
  jobId: string
}

/** The new job. A repeated call with the same idempotency key returns the same job. */
export type RetriedJob = Pick<Job, 'jobId' | 'videoId' | 'mediaId' | 'action'>

export type RetryJob = (retry: RetryRequest, call: Pick<Call, 'idempotency' | 'signal'>) => Promise<RetriedJob>

/**
 * Creates a new job from the source of a failed or cancelled job. Throws JOB_NOT_FOUND,
 * JOB_NOT_FAILED, JOB_OVERTAKEN, and the errors of `reserve`.
 */
export function createRetryJob(db: Db, enqueue: Enqueue): RetryJob {
  return ({ scope, jobId }, call) =>
    withIdempotency(db, call, jsonCodec<RetriedJob>(), async (tx) => {
      const { failed, media } = await lockFailedJob(tx, jobId, scope)
      // The video of the failed job may have been deleted.
      const videoId = await findFirstVideoId(tx, media.mediaId)
      const newJobId =
        failed.action === 'add_rendition'
          ? await startRendition(tx, enqueue, media, { profileId: failed.profile_id ?? 0, userId: failed.user_id })
          : await startSetJob(tx, enqueue, failed, media, videoId)
      if (newJobId === undefined) throw jobSuperseded('the media already has this rendition, or has no set to which it could be added')
      return { jobId: newJobId, videoId, mediaId: failed.media_id, action: failed.action }
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
async function lockFailedJob(tx: Transaction, jobId: string, scope: Scope): Promise<{ failed: FailedJob; media: LockedMedia }> {
  const [job] = await tx.query<FailedJob>(
    `select media_id, organisation_id, action, state, source_url, user_id, notify, low_priority, profile_id from job
     where job_id = $1 and ($2::bigint is null or organisation_id = $2)`,
    [jobId, scope],
  )
  const media = job && (await lockMedia(tx, job.media_id, null))
  // The source URL is deleted with the media.
  if (!job || !media) throw notFound('job', jobId)
  const [current] = await tx.query<{ state: Job['state']; is_superseded: boolean }>(
    `select state, exists (select from job l where l.media_id = j.media_id and l.job_id > j.job_id
       and case when j.action = 'add_rendition' then l.profile_id = j.profile_id else l.action <> 'add_rendition' end) as is_superseded
     from job j where job_id = $1`,
    [jobId],
  )
  if (current?.state !== 'failed' && current?.state !== 'cancelled') {
    throw new DomainError('failed_precondition', 'JOB_NOT_FAILED', 'only a failed or cancelled job can be retried')
  }
  if (current.is_superseded) throw jobSuperseded('a later job has replaced this one')
  return { failed: job, media }
}

async function startSetJob(
  tx: Transaction,
  enqueue: Enqueue,
  { action, source_url: sourceUrl, user_id: userId, notify, low_priority: lowPriority }: FailedJob,
  { mediaId, organisationId, renditions }: LockedMedia,
  videoId: string,
): Promise<string> {
  const status = createAcceptedStatus(false)
  const releasedBytes = await countReplacedBytes(tx, { mediaId, renditions })
  const reserved = await reserve(tx, organisationId, { ...URL_SOURCE_WORK, releasedBytes })
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
  await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, lowPriority, ...toJobLimits(reserved) })
  return jobId
}

function jobSuperseded(message: string): DomainError {
  return new DomainError('failed_precondition', 'JOB_OVERTAKEN', message)
}
