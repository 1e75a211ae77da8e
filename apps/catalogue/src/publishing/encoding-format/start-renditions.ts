import { isDomainError } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import { type Reservation, toJobLimits } from '../../quota/quota.ts'
import { reserve } from '../../quota/reserve.ts'
import { type Enqueue, enqueueCreated } from '../job/job-messages.ts'
import { insertFailedJob, insertJob } from '../job/new-job.ts'
import type { LockedMedia } from '../media/media-lock.ts'
import { TOO_LARGE } from '../media/status.ts'
import { findFirstVideoId } from '../media/video-lock.ts'
import { findProfile, toRenditionKey } from './profiles.ts'

/** The fields of a locked media that a rendition requires. */
type RenditionTarget = Pick<LockedMedia, 'mediaId' | 'organisationId' | 'renditions'>

/**
 * Queues one rendition for the current set of a locked media, and returns its job. Returns the active
 * job if the rendition is already queued or running. Returns undefined if the rendition exists or if the media
 * has no set with a picture. Throws the errors of `reserve`.
 */
export async function startRendition(
  tx: Transaction,
  enqueue: Enqueue,
  media: RenditionTarget,
  { profileId, userId }: { profileId: number; userId: string },
): Promise<string | undefined> {
  if (!isMissing(media, profileId)) return undefined
  const [active] = await tx.query<{ job_id: string }>(
    `select job_id from job where media_id = $1 and profile_id = $2 and state in ('queued', 'running') and action = 'add_rendition'`,
    [media.mediaId, profileId],
  )
  if (active) return active.job_id
  return queueRendition(tx, enqueue, media, { profileId, userId, reserved: await reserve(tx, media.organisationId, RENDITION_WORK) })
}

/**
 * Queues all formats of a media for its newly published set. A rendition that exceeds a quota is
 * recorded as a failed job.
 */
export async function startAllRenditions(tx: Transaction, enqueue: Enqueue, media: RenditionTarget, userId: string): Promise<void> {
  const rows = await tx.query<{ profile_id: number }>(
    'select profile_id from media_encoding_format where media_id = $1 order by profile_id',
    [media.mediaId],
  )
  for (const { profile_id: profileId } of rows) {
    if (!isMissing(media, profileId)) continue
    try {
      const reserved = await reserve(tx, media.organisationId, RENDITION_WORK)
      await queueRendition(tx, enqueue, media, { profileId, userId, reserved })
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'exhausted') throw error
      await insertFailedJob(tx, { ...(await createJobFields(tx, media, { profileId, userId })), code: TOO_LARGE, message: error.message })
    }
  }
}

/** An added rendition uses no encoding minutes, because they were counted with its set. */
const RENDITION_WORK = { bytes: 0, releasedBytes: 0, isEncoded: false }

function isMissing({ renditions }: RenditionTarget, profileId: number): boolean {
  const profile = findProfile(profileId)
  return profile !== undefined && renditions?.hasVideo === true && !renditions.renditions.some(({ key }) => key === toRenditionKey(profile))
}

async function queueRendition(
  tx: Transaction,
  enqueue: Enqueue,
  media: RenditionTarget,
  { profileId, userId, reserved }: { profileId: number; userId: string; reserved: Reservation },
): Promise<string> {
  const { mediaId, organisationId } = media
  const job = await createJobFields(tx, media, { profileId, userId })
  const jobId = await insertJob(tx, { ...job, reserved })
  const { maxBytes } = toJobLimits(reserved)
  const rendition = { setJobId: job.setJobId, profileId }
  await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl: '', maxBytes, lowPriority: job.lowPriority, rendition })
  return jobId
}

async function createJobFields(
  tx: Transaction,
  { mediaId, organisationId, renditions }: RenditionTarget,
  fields: { profileId: number; userId: string },
) {
  const videoId = await findFirstVideoId(tx, mediaId)
  const setJobId = renditions?.jobId ?? ''
  // The rendition has the same priority as the upload of its set.
  const [set] = await tx.query<{ low_priority: boolean }>('select low_priority from job where job_id = $1', [setJobId])
  return {
    ...fields,
    videoId,
    mediaId,
    organisationId,
    setJobId,
    action: 'add_rendition' as const,
    progress: 5,
    sourceUrl: '',
    notify: false,
    lowPriority: set?.low_priority ?? false,
  }
}
