import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { lockMedia } from './media-lock.ts'

export interface VideoKey {
  scope: Scope
  videoId: string
}

/** The columns of a locked video. */
export interface LockedVideo {
  videoId: string
  mediaId: string
  organisationId: string
  tags: string[]
}

interface Row {
  video_id: string
  media_id: string
  organisation_id: string
  tags: string[]
}

/** Locks the media of a video and returns columns of the video. Throws VIDEO_NOT_FOUND. */
export async function lockVideo(tx: Transaction, key: VideoKey): Promise<LockedVideo> {
  await lockMediaOfVideo(tx, key)
  return readVideo(tx, key)
}

/** Locks the media of a video. The video cannot change until the transaction ends. Throws VIDEO_NOT_FOUND. */
export async function lockMediaOfVideo(tx: Transaction, key: VideoKey): Promise<void> {
  const { mediaId } = await readVideo(tx, key)
  await lockMedia(tx, mediaId, key.scope)
}

async function readVideo(tx: Transaction, { scope, videoId }: VideoKey): Promise<LockedVideo> {
  const [row] = await tx.query<Row>(
    'select video_id, media_id, organisation_id, tags from video where video_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [videoId, scope],
  )
  if (!row) throw notFound('video', videoId)
  return { videoId: row.video_id, mediaId: row.media_id, organisationId: row.organisation_id, tags: row.tags }
}

/** Returns the id of the oldest video of a locked media. */
export async function findFirstVideoId(tx: Transaction, mediaId: string): Promise<string> {
  const [row] = await tx.query<{ video_id: string }>(
    'select video_id from video where media_id = $1 order by create_time, video_id limit 1',
    [mediaId],
  )
  if (!row) throw new Error(`media ${mediaId} has no video`)
  return row.video_id
}

/** Stores the user and the time of a change of a locked video, and returns the time. */
export async function recordChange(tx: Transaction, videoId: string, byUserId: string): Promise<Date> {
  const [row] = await tx.query<{ update_time: Date }>(
    'update video set last_modified_by_id = $2, update_time = clock_timestamp() where video_id = $1 returning update_time',
    [videoId, byUserId],
  )
  if (!row) throw new Error(`video ${videoId} disappeared while it was locked`)
  return row.update_time
}

/** Records a change of fields that all videos of a locked media share, such as its title, as a change of each video. */
export async function recordChangeOfVideos(tx: Transaction, mediaId: string): Promise<void> {
  await tx.query('update video set update_time = clock_timestamp() where media_id = $1', [mediaId])
}
