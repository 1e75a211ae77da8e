import type { Transaction } from '@vitascope/postgres'
import type { RenditionSet } from './rendition-set.ts'

/**
 * Creates a new delivery version for every video of a media. The caller has stored the new set. The
 * previous set stays available under its old URLs for one hour, so that running playback continues. If there is no
 * previous set, the images of the video's poster stay available in the same way.
 */
export async function switchToSet(tx: Transaction, mediaId: string, before: RenditionSet | undefined): Promise<void> {
  if (before) {
    await tx.query(
      `insert into delivery_set (video_id, version, job_id, prefix, expire_time)
       select video_id, delivery_version, $2, $3, now() + interval '1 hour' from video where media_id = $1 and delivery_version <> ''`,
      [mediaId, before.jobId, before.prefix],
    )
  } else {
    await tx.query(
      `insert into delivery_set (video_id, version, job_id, prefix, expire_time)
       select v.video_id, v.delivery_version, p.set_job_id, p.prefix, now() + interval '1 hour'
       from video v join poster p using (video_id) where v.media_id = $1 and v.delivery_version <> '' and p.prefix is not null`,
      [mediaId],
    )
  }
  await tx.query('update video set delivery_version = new_delivery_version() where media_id = $1', [mediaId])
}

/** Invalidates the delivery URLs of all videos of a media, or of one video if `videoId` is not null. */
export async function rotateDeliveryUrls(tx: Transaction, mediaId: string, videoId: string | null = null): Promise<void> {
  await tx.query(
    'delete from delivery_set s using video v where v.video_id = s.video_id and v.media_id = $1 and ($2::bigint is null or v.video_id = $2)',
    [mediaId, videoId],
  )
  await tx.query(
    `update video set delivery_version = new_delivery_version()
     where media_id = $1 and ($2::bigint is null or video_id = $2) and delivery_version <> ''`,
    [mediaId, videoId],
  )
}
