import type { Db } from '@vitascope/postgres'
import { toTsQuery } from './video-search.ts'

/** Cleans up data of lists and searches in small steps. */
export interface VideoSweep {
  run(): Promise<void>
}

/** Maximum number of rows per count. Readers sum the rows of a count. */
const MAX_COUNT_ROWS = 100
const WORD_BATCH_SIZE = 10

/** A title word of one organisation. */
interface OrganisationWord {
  organisation_id: string
  word: string
}
const FIRST_ORGANISATION_WORD: OrganisationWord = { organisation_id: '0', word: '' }

export function createVideoSweep(db: Db): VideoSweep {
  let lastWord = ''
  let lastOrganisationWord = FIRST_ORGANISATION_WORD
  return {
    async run() {
      await mergeCounts(db)
      lastWord = await deleteUnusedWords(db, lastWord)
      lastOrganisationWord = await deleteUnusedOrganisationWords(db, lastOrganisationWord)
    },
  }
}

/** Replaces the rows of a count with their sum. One statement does this, so that readers see a correct sum. */
async function mergeCounts(db: Db): Promise<void> {
  await db.query(
    `with merged as (
       delete from video_count where (organisation_id, state) in (
         select organisation_id, state from video_count group by organisation_id, state having count(*) > ${MAX_COUNT_ROWS})
       returning organisation_id, state, videos)
     insert into video_count select organisation_id, state, sum(videos) from merged group by organisation_id, state having sum(videos) <> 0`,
  )
}

/**
 * Deletes words that no video contains any more, among those after the last one that was checked.
 * Returns where to continue. A word that is being added concurrently can be lost. Its typos are
 * then not corrected until the next video with this word.
 */
function deleteUnusedWords(db: Db, after: string): Promise<string> {
  return db.transaction(async (tx) => {
    await tx.query('set local enable_seqscan = off')
    const rows = await tx.query<{ word: string }>(
      `select word from title_word where word > $1 collate "C" order by word limit ${WORD_BATCH_SIZE}`,
      [after],
    )
    const words = rows.map(({ word }) => word)
    await tx.query(
      `delete from title_word where word in (
         select w.word collate "C" from unnest($1::text[], $2::text[]) as w (word, query)
         where not exists (select from video_search s where s.words @@ w.query::tsquery)
           and not exists (select from caption_search m where m.words @@ w.query::tsquery))`,
      [words, words.map((word) => toTsQuery([[word]], { scope: null }))],
    )
    return words.length === WORD_BATCH_SIZE ? (words.at(-1) ?? '') : ''
  })
}

/**
 * Deletes words that no video of their organisation contains any more, among those after the last
 * one that was checked. Returns where to continue.
 */
function deleteUnusedOrganisationWords(db: Db, after: OrganisationWord): Promise<OrganisationWord> {
  return db.transaction(async (tx) => {
    await tx.query('set local enable_seqscan = off')
    const rows = await tx.query<OrganisationWord>(
      `select organisation_id, word from organisation_title_word where (organisation_id, word) > ($1, $2 collate "C")
       order by organisation_id, word limit ${WORD_BATCH_SIZE}`,
      [after.organisation_id, after.word],
    )
    await tx.query(
      `delete from organisation_title_word where (organisation_id, word) in (
         select w.organisation_id, w.word collate "C" from unnest($1::bigint[], $2::text[], $3::text[]) as w (organisation_id, word, query)
         where not exists (select from video_search s where s.words @@ w.query::tsquery)
           and not exists (select from caption_search m where m.words @@ w.query::tsquery))`,
      [
        rows.map((row) => row.organisation_id),
        rows.map((row) => row.word),
        rows.map((row) => toTsQuery([[row.word]], { scope: row.organisation_id })),
      ],
    )
    return rows.length === WORD_BATCH_SIZE ? (rows.at(-1) ?? FIRST_ORGANISATION_WORD) : FIRST_ORGANISATION_WORD
  })
}
