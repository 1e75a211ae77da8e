import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/** Makes captions searchable, asynchronously after they change. */
export interface CaptionSearchIndexer {
  /** Indexes all media whose captions changed. Concurrent runs are safe, also in other replicas. */
  indexChanged(signal?: AbortSignal): Promise<void>
}

/** Number of changes from which the next media are selected. */
const CHANGES_PER_BATCH = 1_000

/**
 * Returns the indexer. It holds one connection at a time. The change of a media that could not be
 * indexed remains queued for the next run.
 */
export function createCaptionSearchIndexer(db: Db, log: Logger): CaptionSearchIndexer {
  return {
    async indexChanged(signal) {
      const skipped: string[] = []
      for (;;) {
        signal?.throwIfAborted()
        const medias = await nextMedias(db, skipped)
        if (medias.length === 0) return
        for (const mediaId of medias) {
          signal?.throwIfAborted()
          if (!(await indexMedia(db, mediaId, log))) skipped.push(mediaId)
        }
      }
    },
  }
}

/** Returns the longest waiting media of each organisation, so that no organisation blocks another. */
async function nextMedias(db: Db, skipped: readonly string[]): Promise<string[]> {
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
    // In a separate transaction, because the foreign key locks the media until the transaction
    // ends.
    await db.query(
      `insert into caption_search (media_id, organisation_id, words) select media_id, organisation_id, '' from media
       where media_id = $1 and not exists (select from caption_search where media_id = $1) on conflict do nothing`,
      [mediaId],
    )
    const [row] = await db.query<{ renewed: boolean }>('select update_caption_search($1) as renewed', [mediaId])
    return row?.renewed === true
  } catch (error) {
    log.warn({ err: error, media_id: mediaId }, 'indexing captions for search failed; retrying')
    return false
  }
}
