import { notFound } from '@vitascope/errors'
import type { Transaction } from '@vitascope/postgres'
import { lockMedia } from '../media/media-lock.ts'
import type { VideoKey } from './video-store.ts'

/** What is known of a video under lock. */
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

/** Locks a video for a change of what belongs to it, behind its media's lock as all its changes are. */
export async function lockVideo(tx: Transaction, { scope, videoId }: VideoKey): Promise<LockedVideo> {
  const read = async () => {
    const [row] = await tx.query<Row>(
      'select video_id, media_id, organisation_id, tags from video where video_id = $1 and ($2::bigint is null or organisation_id = $2)',
      [videoId, scope],
    )
    if (!row) throw notFound('video', videoId)
    return { videoId: row.video_id, mediaId: row.media_id, organisationId: row.organisation_id, tags: row.tags }
  }
  const { mediaId } = await read()
  await lockMedia(tx, mediaId, scope)
  return read()
}

/** Writes down who changed a locked video; answers when. */
export async function noteChange(tx: Transaction, videoId: string, byUserId: string): Promise<Date> {
  const [row] = await tx.query<{ update_time: Date }>(
    'update video set last_modified_by_id = $2, update_time = clock_timestamp() where video_id = $1 returning update_time',
    [videoId, byUserId],
  )
  if (!row) throw new Error(`video ${videoId} went away under its lock`)
  return row.update_time
}
