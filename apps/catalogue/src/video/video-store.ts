import { DomainError, notFound } from '@vitascope/errors'
import type { Db, Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { adoptPresentation } from '../presentation/presentation-store.ts'
import { rotateDeliveryUrls } from '../publishing/media/delivery-set.ts'
import { lockMediaOfVideo, lockVideo, recordChangeOfVideos, type VideoKey } from '../publishing/media/video-lock.ts'
import { EFFECTIVE_SETTING } from '../setting/setting-store.ts'
import { requireReferencedRecords } from './check-references.ts'
import { restrictsAccess, type Video } from './video.ts'
import type { VideoFields } from './video-fields.ts'
import { FIELD_COLUMNS, FIELD_PARAMETERS, fieldValues, parameterAfterFields, SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'

export interface VideoStore {
  find(scope: Scope, videoId: string, signal?: AbortSignal): Promise<Video | undefined>
  /**
   * Locks the video and stores the fields that `change` returns. Rotates the delivery URLs if the
   * change restricts access. Throws VIDEO_NOT_FOUND.
   */
  update(key: VideoKey, byUserId: string, change: (current: Video) => VideoFields, signal?: AbortSignal): Promise<Video>
  /** Deletes a video and returns the deletion time. Throws ONLY_PUBLISH if it is the only video of its media. */
  remove(key: VideoKey, signal?: AbortSignal): Promise<Date>
}

const [NEXT, NEXT2, NEXT3, NEXT4, NEXT5] = [1, 2, 3, 4, 5].map(parameterAfterFields)
const FIND = `${SELECT_VIDEO} where v.video_id = $1 and ($2::bigint is null or v.organisation_id = $2)`

export function createVideoStore(db: Db): VideoStore {
  return {
    async find(scope, videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.prepared<VideoRow>(FIND, [videoId, scope])
      return row && toVideo(row)
    },
    update: (key, byUserId, change, signal) =>
      db.transaction(async (tx) => {
        await lockMediaOfVideo(tx, key)
        const before = await readVideo(tx, key)
        const after = change(before)
        await requireReferencedRecords(tx, before.organisationId, after, before)
        await tx.query(
          `update video set (${FIELD_COLUMNS}) = (${FIELD_PARAMETERS}), last_modified_by_id = ${NEXT}, update_time = clock_timestamp()
           where video_id = ${NEXT2}`,
          [...fieldValues(after), byUserId, before.videoId],
        )
        if (after.mediaTitle !== before.mediaTitle || after.tokenRequired !== before.tokenRequired) {
          await tx.query('update media set title = $2, token_required = $3, update_time = clock_timestamp() where media_id = $1', [
            before.mediaId,
            after.mediaTitle,
            after.tokenRequired,
          ])
          await recordChangeOfVideos(tx, before.mediaId)
        }
        if (after.presentationId !== '' && after.presentationId !== before.presentationId)
          await adoptPresentation(tx, { ...before, presentationId: after.presentationId })
        if (after.tokenRequired && !before.tokenRequired) await rotateDeliveryUrls(tx, before.mediaId)
        else if (restrictsAccess(before, after) || (await getsPassword(tx, before, after)))
          await rotateDeliveryUrls(tx, before.mediaId, before.videoId)
        return readVideo(tx, key)
      }, signal),
    remove: (key, signal) =>
      db.transaction(async (tx) => {
        const { mediaId, videoId } = await lockVideo(tx, key)
        const [mediaVideos] = await tx.query<{ has_others: boolean }>('select count(*) > 1 as has_others from video where media_id = $1', [
          mediaId,
        ])
        if (!mediaVideos?.has_others) {
          throw new DomainError('failed_precondition', 'ONLY_PUBLISH', 'this is the only video of its media; delete the media instead')
        }
        const [row] = await tx.query<{ delete_time: Date }>(
          'delete from video where video_id = $1 returning clock_timestamp()::timestamptz(3) as delete_time',
          [videoId],
        )
        if (!row) throw new Error(`video ${videoId} disappeared while it was locked`)
        return row.delete_time
      }, signal),
  }
}

export interface NewVideo extends VideoFields {
  videoId: string
  mediaId: string
  organisationId: string
  userId: string
  /** Whether its media has files. */
  isPlayable: boolean
}

export async function insertVideo(tx: Transaction, video: NewVideo): Promise<void> {
  await tx.query(
    `insert into video (${FIELD_COLUMNS}, video_id, media_id, organisation_id, creator_id, last_modified_by_id, delivery_version)
     values (${FIELD_PARAMETERS}, ${NEXT}, ${NEXT2}, ${NEXT3}, ${NEXT4}, ${NEXT4}, case when ${NEXT5} then new_delivery_version() else '' end)`,
    [...fieldValues(video), video.videoId, video.mediaId, video.organisationId, video.userId, video.isPlayable],
  )
}

async function readVideo(tx: Transaction, { scope, videoId }: VideoKey): Promise<Video> {
  const [row] = await tx.query<VideoRow>(FIND, [videoId, scope])
  if (!row) throw notFound('video', videoId)
  return toVideo(row)
}

/** Returns whether the video gets another profile, which has a password. */
async function getsPassword(tx: Transaction, before: Video, after: VideoFields): Promise<boolean> {
  if (after.settingId === before.settingId) return false
  const rows = await tx.query(
    `select from video v join organisation o using (organisation_id)
     where v.video_id = $1 and (select s.password_hash from setting s where ${EFFECTIVE_SETTING}) is not null`,
    [before.videoId],
  )
  return rows.length > 0
}
