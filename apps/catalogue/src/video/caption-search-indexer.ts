import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/** Updates the search index after captions have changed. */
export interface CaptionSearchIndexer {
  /** Indexes all media whose captions have changed. Several replicas can run it at the same time. */
  indexChanged(signal?: AbortSignal): Promise<void>
}

/** Number of oldest changes from which the next media are selected. */
const CHANGES_PER_BATCH = 1_000

/**
 * Creates the indexer. It uses one connection. If indexing a media fails, the next run tries again.
 */
export function createCaptionSearchIndexer(db: Db, log: Logger): CaptionSearchIndexer {
  return {
    async indexChanged(signal) {
      const skipped: string[] = []
      for (;;) {
        signal?.throwIfAborted()
        const mediaIds = await findNextMedia(db, skipped)
        if (mediaIds.length === 0) return
        for (const mediaId of mediaIds) {
          signal?.throwIfAborted()
          if (!(await indexMedia(db, mediaId, log))) skipped.push(mediaId)
        }
      }
    },
  }
}

/** Returns the media of each organisation that has waited longest, so that no organisation blocks another. */
async function findNextMedia(db: Db, skipped: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ media_id: string }>(
    `select distinct on (organisation_id) media_id from (
       select caption_change_id, organisation_id, media_id from caption_change where media_id <> all ($1::bigint[])
       order by caption_change_id limit ${CHANGES_PER_BATCH}) as change
     order by organisation_id, caption_change_id`,
    [skipped],
  )
  return rows.map((row) => row.media_id)
}

/** Returns false if another run is indexing the media, or if it failed. */
async function indexMedia(db: Db, mediaId: string, log: Logger): Promise<boolean> {
  try {
    // This is a separate transaction, because the foreign key locks the media until its end.
    await db.query(
      `insert into caption_search (media_id, organisation_id, words) select media_id, organisation_id, '' from media
       where media_id = $1 and not exists (select from caption_search where media_id = $1) on conflict do nothing`,
      [mediaId],
    )
    const [row] = await db.query<{ is_updated: boolean }>('select update_caption_search($1) as is_updated', [mediaId])
    return row?.is_updated === true
  } catch (error) {
    log.warn({ err: error, media_id: mediaId }, 'indexing captions for search failed; retrying')
    return false
  }
}
