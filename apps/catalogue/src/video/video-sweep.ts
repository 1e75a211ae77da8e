import type { Db } from '@vitascope/postgres'
import { toQuery } from './video-search.ts'

/** What lists and searches leave behind, tidied a little at a time. */
export interface VideoSweep {
  run(): Promise<void>
}

/** Rows of one count that readers may add up. */
const MOST_CHANGES = 100
const WORDS_AT_ONCE = 10

export function createVideoSweep(db: Db): VideoSweep {
  let lastWord = ''
  return {
    async run() {
      await mergeCounts(db)
      lastWord = await forgetWords(db, lastWord)
    },
  }
}

/** One statement, so that a reader sees the rows before or their sum after. */
async function mergeCounts(db: Db): Promise<void> {
  await db.query(
    `with merged as (
       delete from video_count where (organisation_id, state) in (
         select organisation_id, state from video_count group by organisation_id, state having count(*) > ${MOST_CHANGES})
       returning organisation_id, state, videos)
     insert into video_count select organisation_id, state, sum(videos) from merged group by organisation_id, state having sum(videos) <> 0`,
  )
}

/**
 * Words that no video has any more, of those after the last one looked at; answers where to go on. A word that a video is just being
 * given may be lost: until the next video with it, its typos are not forgiven.
 */
function forgetWords(db: Db, after: string): Promise<string> {
  return db.transaction(async (tx) => {
    await tx.query('set local enable_seqscan = off')
    const rows = await tx.query<{ word: string }>(
      `select word from title_word where word > $1 collate "C" order by word limit ${WORDS_AT_ONCE}`,
      [after],
    )
    const words = rows.map(({ word }) => word)
    await tx.query(
      `delete from title_word where word in (
         select w.word collate "C" from unnest($1::text[], $2::text[]) as w (word, query)
         where not exists (select from video_search s where s.words @@ w.query::tsquery)
           and not exists (select from media_spoken m where m.spoken @@ w.query::tsquery))`,
      [words, words.map((word) => toQuery([[word]], { scope: null }))],
    )
    return words.length === WORDS_AT_ONCE ? (words.at(-1) ?? '') : ''
  })
}
