import type { Transaction } from '@vitascope/postgres'
import type { RenditionSet } from '../media/rendition-set.ts'

/**
 * Gives every video of a media whose new set is stored an address of its own. The set of before stays to be had under its old
 * addresses for an hour, for viewers who have begun.
 */
export async function moveToNewSet(tx: Transaction, mediaId: string, before: RenditionSet | undefined): Promise<void> {
  if (before) {
    await tx.query(
      `insert into delivery_set (video_id, version, job_id, prefix, expire_time)
       select video_id, delivery_version, $2, $3, now() + interval '1 hour' from video where media_id = $1 and delivery_version <> ''`,
      [mediaId, before.jobId, before.prefix],
    )
  }
  await tx.query('update video set delivery_version = new_delivery_version() where media_id = $1', [mediaId])
}

/** Closes every address of a media's files known so far, or, with `videoId`, those of one of its videos. */
export async function closeAddresses(tx: Transaction, mediaId: string, videoId: string | null = null): Promise<void> {
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
