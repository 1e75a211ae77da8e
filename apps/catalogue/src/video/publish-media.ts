import { notFound } from '@vitascope/errors'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import { lockMedia } from '../publishing/media/media-lock.ts'
import type { PublishMedia } from '../publishing/media-rpc.ts'
import { newRandomId } from '../rules/id.ts'
import type { Video } from './video.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'
import { insertVideo } from './video-store.ts'

/** Returns a function that adds a video to a media, as a copy of its oldest video. It throws MEDIA_NOT_FOUND. */
export function createPublishMedia(db: Db): PublishMedia {
  return ({ scope, mediaId: id }, userId, call) =>
    withIdempotency(db, call, jsonCodec<{ videoId: string; mediaId: string }>(), async (tx) => {
      const media = await lockMedia(tx, id, scope)
      if (!media) throw notFound('media', id)
      const { mediaId, organisationId, renditions, preview } = media
      const videoId = newRandomId()
      const first = await readFirstVideo(tx, mediaId)
      await insertVideo(tx, { ...first, videoId, mediaId, organisationId, userId, isPlayable: (renditions ?? preview) !== undefined })
      return { videoId, mediaId }
    })
}

/** Returns the oldest video of a media. */
async function readFirstVideo(tx: Transaction, mediaId: string): Promise<Video> {
  const [row] = await tx.query<VideoRow>(`${SELECT_VIDEO} where v.media_id = $1 order by v.create_time, v.video_id limit 1`, [mediaId])
  if (!row) throw new Error(`media ${mediaId} has no video`)
  return toVideo(row)
}
