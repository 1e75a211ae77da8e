import type { Db } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'

/** Makes what is said in media searchable, behind the changes to their captions. */
export interface SpokenWords {
  /** Renews all media whose captions changed; several may run at once, also elsewhere. */
  renew(signal?: AbortSignal): Promise<void>
}

/** Changes that are looked at for the next media. */
const CHANGES_AT_ONCE = 1_000

/** Holds one connection at a time. What was not renewed for whatever reason stays noted, and is in the next run. */
export function createSpokenWords(db: Db, log: Logger): SpokenWords {
  return {
    async renew(signal) {
      const leftOut: string[] = []
      for (;;) {
        signal?.throwIfAborted()
        const medias = await nextMedias(db, leftOut)
        if (medias.length === 0) return
        for (const mediaId of medias) {
          signal?.throwIfAborted()
          if (!(await renewOne(db, mediaId, log))) leftOut.push(mediaId)
        }
      }
    },
  }
}

/** The longest waiting one of each organisation, so that none waits for all of another. */
async function nextMedias(db: Db, leftOut: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ media_id: string }>(
    `select distinct on (organisation_id) media_id from (
       select spoken_change_id, organisation_id, media_id from spoken_change where media_id <> all ($1::bigint[])
       order by spoken_change_id limit ${CHANGES_AT_ONCE}) as change
     order by organisation_id, spoken_change_id`,
    [leftOut],
  )
  return rows.map((row) => row.media_id)
}

/** False when another renews it just now, or it failed. */
async function renewOne(db: Db, mediaId: string, log: Logger): Promise<boolean> {
  try {
    // On its own: a foreign key holds the media until the end of the transaction.
    await db.query(
      `insert into media_spoken (media_id, organisation_id, spoken) select media_id, organisation_id, '' from media
       where media_id = $1 and not exists (select from media_spoken where media_id = $1) on conflict do nothing`,
      [mediaId],
    )
    const [row] = await db.query<{ renewed: boolean }>('select renew_spoken($1) as renewed', [mediaId])
    return row?.renewed === true
  } catch (error) {
    log.warn({ err: error, media_id: mediaId }, 'the words of captions could not be made searchable: they are tried again')
    return false
  }
}
