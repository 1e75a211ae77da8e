import type { Db, OutboxHandlers, Transaction } from '@vitascope/postgres'
import type { Enqueue } from '../publishing/job/job-messages.ts'

/** Topic of the message that rotates the URLs of further videos of a profile. */
const ROTATE_URLS = 'setting.rotate_urls'
/** Videos per transaction, which takes less than a second. A profile may have any number of videos. */
const BATCH = 500

interface ProfileVideos {
  settingId: string
  organisationId: string
  /** The last video that was changed. By default, the first video is the next one. */
  afterVideoId?: string
}

/**
 * Rotates the delivery URLs of the videos that reference a profile, because caches may return files of the old URLs
 * without a password. The first 500 videos change in this transaction, and the others afterwards. Until then only
 * caches return their files, because delivery checks the password for old URLs too. Videos that use the profile as the
 * default of their organisation are not changed.
 */
export async function rotateUrlsOfVideos(tx: Transaction, enqueue: Enqueue, profile: ProfileVideos): Promise<void> {
  const { settingId, organisationId, afterVideoId = '0' } = profile
  const rows = await tx.query<{ video_id: string }>(
    // Materialized, so that the index on the profile is used and not the one of all videos.
    `with used as materialized (
       select video_id from video where setting_id = $1 and setting_id <> '' and organisation_id = $2)
     select video_id from used where video_id > $3 order by video_id limit ${BATCH}`,
    [settingId, organisationId, afterVideoId],
  )
  const videoIds = rows.map((row) => row.video_id)
  await tx.query('delete from delivery_set where video_id = any($1::bigint[])', [videoIds])
  await tx.query(
    `update video set delivery_version = new_delivery_version() where delivery_version <> '' and video_id = any($1::bigint[])`,
    [videoIds],
  )
  if (videoIds.length < BATCH) return
  const payload: ProfileVideos = { settingId, organisationId, afterVideoId: videoIds.at(-1) ?? '0' }
  await enqueue(tx, { topic: ROTATE_URLS, key: `setting:${settingId}`, payload })
}

/** Returns the handler of the messages. A repeated message rotates the URLs of its videos again. */
export function rotateUrlsHandlers(db: Db, enqueue: () => Enqueue): OutboxHandlers {
  return { [ROTATE_URLS]: (profile: ProfileVideos) => db.transaction((tx) => rotateUrlsOfVideos(tx, enqueue(), profile)) }
}
