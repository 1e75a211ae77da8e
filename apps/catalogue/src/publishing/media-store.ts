import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import { parseUploadId, toJobLimits, URL_SOURCE_WORK } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { countReplacedBytes } from './encoding-format/add-rendition.ts'
import { type Enqueue, enqueueCreated } from './job/job-messages.ts'
import { insertJob } from './job/new-job.ts'
import { endActiveJobs } from './job-store.ts'
import { rotateDeliveryUrls } from './media/delivery-set.ts'
import type { Media, MediaFields } from './media/media.ts'
import { type LockedMedia, lockMedia, type MediaKey, saveState } from './media/media-lock.ts'
import { listFileNames, readSet, type StoredSet } from './media/rendition-set.ts'
import { createAcceptedStatus, type Status } from './media/status.ts'
import { findFirstVideoId, recordChangeOfVideos } from './media/video-lock.ts'

export interface Replacement {
  videoId: string
  jobId: string
  status: Status
}

/** The user on whose behalf a media is deleted, the user of the API key, and the reason. */
export interface Deletion {
  userId: string
  callerId: string
  notes: string
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** All methods except `find` throw MEDIA_NOT_FOUND. */
export interface MediaStore {
  find(key: MediaKey, signal?: AbortSignal): Promise<Media | undefined>
  update(key: MediaKey, change: (current: MediaFields) => MediaFields, signal?: AbortSignal): Promise<Media>
  /** Accepts a new source. Cancels an active encode job of the media. */
  replace(
    key: MediaKey,
    source: { sourceUrl: string; userId: string; startsWaiting: boolean },
    call: IdempotentCall,
  ): Promise<Replacement & { repeatedCall: boolean }>
  /** Deletes a media with its videos and cancels its jobs. Returns the deletion time. */
  remove(key: MediaKey, deletion: Deletion, signal?: AbortSignal): Promise<Date>
}

export function createMediaStore(db: Db, enqueue: Enqueue): MediaStore {
  return {
    async find({ scope, mediaId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<MediaRow>(
        `select media_id, organisation_id, title, original_filename, token_required, gif_status, update_time, renditions
         from media where media_id = $1 and ($2::bigint is null or organisation_id = $2)`,
        [mediaId, scope],
      )
      return row && toMedia(row)
    },
    update: (key, change, signal) =>
      db.transaction(async (tx) => {
        const before = await requireMedia(tx, key)
        const after = change(before)
        const [row] = await tx.query<MediaRow>(
          `update media set title = $2, original_filename = $3, token_required = $4, gif_status = $5, update_time = clock_timestamp()
           where media_id = $1
           returning media_id, organisation_id, title, original_filename, token_required, gif_status, update_time, renditions`,
          [before.mediaId, after.title, after.originalFilename, after.tokenRequired, after.gifStatus],
        )
        if (!row) throw new Error(`media ${before.mediaId} disappeared while it was locked`)
        if (after.title !== before.title || after.tokenRequired !== before.tokenRequired) await recordChangeOfVideos(tx, before.mediaId)
        if (after.tokenRequired && !before.tokenRequired) await rotateDeliveryUrls(tx, before.mediaId)
        return toMedia(row)
      }, signal),
    async replace(key, { sourceUrl, userId, startsWaiting }, call) {
      let repeatedCall = true
      const replacement = await withIdempotency(db, call, jsonCodec<Replacement>(), async (tx) => {
        repeatedCall = false
        const { mediaId, organisationId, renditions } = await requireMedia(tx, key)
        await endActiveJobs(tx, enqueue, { mediaId, kind: 'set', message: 'replaced by a later request' })
        const videoId = await findFirstVideoId(tx, mediaId)
        const status = createAcceptedStatus(startsWaiting)
        const { progress } = status
        const reserved = await reserve(tx, organisationId, {
          ...URL_SOURCE_WORK,
          releasedBytes: await countReplacedBytes(tx, { mediaId, renditions }),
          uploadId: parseUploadId(sourceUrl),
        })
        const notify = await isMailRequested(tx, mediaId)
        const jobId = await insertJob(tx, {
          videoId,
          mediaId,
          organisationId,
          action: 'replace',
          progress,
          sourceUrl,
          notify,
          userId,
          reserved,
        })
        await saveState(tx, mediaId, { status, renditions, preview: undefined })
        await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, ...toJobLimits(reserved) })
        return { videoId, jobId, status }
      })
      return { ...replacement, repeatedCall }
    },
    remove: (key, { userId, callerId, notes }, signal) =>
      db.transaction(async (tx) => {
        const { mediaId, organisationId } = await requireMedia(tx, key)
        await endActiveJobs(tx, enqueue, { mediaId, kind: 'all', message: 'the media was deleted' })
        // The job rows are kept, so that late reports still succeed. Only the source URL is erased.
        await tx.query(`update job set source_url = '' where media_id = $1`, [mediaId])
        await tx.query('delete from media where media_id = $1', [mediaId])
        const [row] = await tx.query<{ delete_time: Date }>(
          `insert into deletion (media_id, organisation_id, user_id, caller_id, notes) values ($1, $2, $3, $4, $5) returning delete_time`,
          [mediaId, organisationId, userId, callerId, notes],
        )
        if (!row) throw new Error('the insert of a deletion returned no row')
        return row.delete_time
      }, signal),
  }
}

/** Returns whether the uploader requested a success mail. It also applies to the replacement of a failed upload. */
async function isMailRequested(tx: Transaction, mediaId: string): Promise<boolean> {
  const [upload] = await tx.query<{ notify: boolean }>('select notify from job where media_id = $1 order by job_id limit 1', [mediaId])
  return upload?.notify ?? true
}

export interface NewMedia {
  mediaId: string
  organisationId: string
  title: string
  originalFilename: string
  status: Status
}

export async function insertMedia(tx: Transaction, { mediaId, organisationId, title, originalFilename, status }: NewMedia): Promise<void> {
  await tx.query(
    `insert into media (media_id, organisation_id, title, original_filename, state, progress, code) values ($1, $2, $3, $4, $5, $6, $7)`,
    [mediaId, organisationId, title, originalFilename, status.state, status.progress, status.code],
  )
}

async function requireMedia(tx: Transaction, { scope, mediaId }: MediaKey): Promise<LockedMedia> {
  const media = await lockMedia(tx, mediaId, scope)
  if (!media) throw notFound('media', mediaId)
  return media
}

interface MediaRow {
  media_id: string
  organisation_id: string
  title: string
  original_filename: string
  token_required: boolean
  gif_status: number
  update_time: Date
  renditions: StoredSet | null
}

function toMedia(row: MediaRow): Media {
  return {
    mediaId: row.media_id,
    organisationId: row.organisation_id,
    title: row.title,
    originalFilename: row.original_filename,
    encodedFilenames: listFileNames(readSet(row.renditions)),
    tokenRequired: row.token_required,
    gifStatus: row.gif_status,
    updateTime: row.update_time,
  }
}
