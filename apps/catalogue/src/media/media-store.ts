import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, once, type Transaction } from '@vitascope/postgres'
import { closeAddresses } from '../delivery-rule/delivery-set.ts'
import { newRandomId } from '../id/id.ts'
import { type Enqueue, enqueueCreated } from '../job/job-messages.ts'
import { endStandingJobs } from '../job/job-store.ts'
import { insertJob } from '../job/new-job.ts'
import { UNKNOWN_SOURCE, workLimits } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { firstVideo, insertVideo } from '../video/video-store.ts'
import type { Scope } from '../visibility.ts'
import type { Media, MediaFields } from './media.ts'
import { type LockedMedia, lockMedia, saveStanding } from './media-lock.ts'
import { fileNames, readSet, type StoredSet } from './rendition-set.ts'
import { accepted, type Status } from './status.ts'

export interface MediaKey {
  scope: Scope
  mediaId: string
}

export interface Replacement {
  videoId: string
  jobId: string
  status: Status
}

/** On whose behalf a media is deleted, by whose key, and why. */
export interface Deletion {
  userId: string
  callerId: string
  notes: string
}

type Repeatable = Pick<Call, 'idempotency' | 'signal'>

/** All but `find` refuse with MEDIA_NOT_FOUND. */
export interface MediaStore {
  find(key: MediaKey, signal?: AbortSignal): Promise<Media | undefined>
  update(key: MediaKey, change: (now: MediaFields) => MediaFields, signal?: AbortSignal): Promise<Media>
  /** Accepts a new source; a job that is under way for the media is overtaken by it. */
  replace(key: MediaKey, source: { sourceUrl: string; userId: string; startsWaiting: boolean }, call: Repeatable): Promise<Replacement>
  /** Adds a video with the fields of the first one. */
  publish(key: MediaKey, userId: string, call: Repeatable): Promise<{ videoId: string; mediaId: string }>
  /** Removes a media with its videos and ends its job; answers when. */
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
        const before = await needMedia(tx, key)
        const after = change(before)
        const [row] = await tx.query<MediaRow>(
          `update media set title = $2, original_filename = $3, token_required = $4, gif_status = $5, update_time = clock_timestamp()
           where media_id = $1
           returning media_id, organisation_id, title, original_filename, token_required, gif_status, update_time, renditions`,
          [before.mediaId, after.title, after.originalFilename, after.tokenRequired, after.gifStatus],
        )
        if (!row) throw new Error(`media ${before.mediaId} went away under its lock`)
        if (after.tokenRequired && !before.tokenRequired) await closeAddresses(tx, before.mediaId)
        return toMedia(row)
      }, signal),
    replace: (key, { sourceUrl, userId, startsWaiting }, call) =>
      once(db, call, jsonCodec<Replacement>(), async (tx) => {
        const { mediaId, organisationId, renditions } = await needMedia(tx, key)
        await endStandingJobs(tx, enqueue, { mediaId, which: 'set', message: 'overtaken by a later replacement' })
        const { videoId } = await firstVideo(tx, mediaId)
        const status = accepted(startsWaiting)
        const { progress } = status
        const reserved = await reserve(tx, organisationId, { ...UNKNOWN_SOURCE, givenBack: renditions?.bytes ?? 0 })
        const notify = await wishOfUploader(tx, mediaId)
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
        await saveStanding(tx, mediaId, { status, renditions, early: undefined })
        await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, ...workLimits(reserved) })
        return { videoId, jobId, status }
      }),
    publish: (key, userId, call) =>
      once(db, call, jsonCodec<{ videoId: string; mediaId: string }>(), async (tx) => {
        const { mediaId, organisationId, renditions, early } = await needMedia(tx, key)
        const videoId = newRandomId()
        const first = await firstVideo(tx, mediaId)
        await insertVideo(tx, { ...first, videoId, mediaId, organisationId, userId, plays: (renditions ?? early) !== undefined })
        return { videoId, mediaId }
      }),
    remove: (key, { userId, callerId, notes }, signal) =>
      db.transaction(async (tx) => {
        const { mediaId, organisationId } = await needMedia(tx, key)
        await endStandingJobs(tx, enqueue, { mediaId, which: 'all', message: 'the media was deleted' })
        // The rows stay, so that late reports are answered; where the source was is nobody's business any more.
        await tx.query(`update job set source_url = '' where media_id = $1`, [mediaId])
        await tx.query('delete from media where media_id = $1', [mediaId])
        const [row] = await tx.query<{ delete_time: Date }>(
          `insert into deletion (media_id, organisation_id, user_id, caller_id, notes) values ($1, $2, $3, $4, $5) returning delete_time`,
          [mediaId, organisationId, userId, callerId, notes],
        )
        if (!row) throw new Error('the insert of a deletion answered no row')
        return row.delete_time
      }, signal),
  }
}

/** Whether a success is told: it is the first one where the upload failed. */
async function wishOfUploader(tx: Transaction, mediaId: string): Promise<boolean> {
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

async function needMedia(tx: Transaction, { scope, mediaId }: MediaKey): Promise<LockedMedia> {
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
    encodedFilenames: fileNames(readSet(row.renditions)),
    tokenRequired: row.token_required,
    gifStatus: row.gif_status,
    updateTime: row.update_time,
  }
}
