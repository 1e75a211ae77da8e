import type { Query } from '@vitascope/postgres'
import type { Scope } from '../visibility.ts'
import { isTypoOf, mayBeTypo } from './typo.ts'

/**
 * The words that a video must have: one of each group. Words are those of PostgreSQL's parser, in lower case, and so are the rows of
 * `video_search` that they are compared with.
 */
export type SearchWords = readonly (readonly string[])[]

/** Words beyond are not forgiven their typos: each costs a look-up or two. */
const MOST_FORGIVEN = 8
/** Words that a typo may stand for. */
const MOST_MEANT = 10

/** The words of a search, one a group; empty when there are none. */
export async function readSearch(query: Query, text: string): Promise<SearchWords> {
  const [row] = await query<{ words: string[] }>(`select tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words($1))) as words`, [
    text,
  ])
  return (row?.words ?? []).map((word) => [word])
}

/**
 * For words that were not found: where no video of the scope has them all, those that none has are read as typos of words in titles.
 * Undefined when that leads nowhere. Goes by the index alone: run it where sequential scans are off.
 */
export async function forgiveTypos(query: Query, scope: Scope, exact: SearchWords): Promise<SearchWords | undefined> {
  if (await someMatch(query, scope, exact)) return undefined
  const forgiven: (readonly string[])[] = []
  for (const group of exact) {
    const [word = ''] = group
    const known = forgiven.length >= MOST_FORGIVEN || (await someMatch(query, scope, [group]))
    const meant = known ? group : await meantBy(query, scope, word)
    if (meant.length === 0) return undefined
    forgiven.push(meant)
  }
  return forgiven
}

/** What rows are marked with, beside their words. */
export interface Marks {
  scope: Scope
  state?: string | undefined
  tag?: string | undefined
}

/** The words as a tsquery, narrowed by marks within the same index. */
export function toQuery(words: SearchWords, { scope, state, tag }: Marks): string {
  const marks = [
    ...(scope === null ? [] : [`@${scope}`]),
    ...(state === undefined ? [] : [`=${state}`]),
    ...(tag === undefined ? [] : [`#${tag}`]),
  ]
  return [...words, ...marks.map((mark) => [mark])].map((group) => `(${group.map(quoteWord).join(' | ')})`).join(' & ')
}

/** The index is built over exactly this. */
export const SEARCHED = '(s.words || s.spoken)'

async function someMatch(query: Query, scope: Scope, words: SearchWords): Promise<boolean> {
  const rows = await query(`select from video_search s where ${SEARCHED} @@ $1::tsquery limit 1`, [toQuery(words, { scope })])
  return rows.length > 0
}

/** Words of titles that are a letter or two from this one, and that videos of the scope have. */
async function meantBy(query: Query, scope: Scope, word: string): Promise<string[]> {
  if (!mayBeTypo(word)) return []
  const similar = await query<{ word: string }>('select word from similar_title_words($1)', [word])
  const close = similar.map((row) => row.word).filter((candidate) => isTypoOf(word, candidate))
  if (close.length === 0) return []
  const rows = await query<{ word: string }>(
    `select c.word from unnest($1::text[], $2::text[]) as c (word, query)
     where exists (select from video_search s where ${SEARCHED} @@ c.query::tsquery) limit ${MOST_MEANT}`,
    [close, close.map((candidate) => toQuery([[candidate]], { scope }))],
  )
  return rows.map((row) => row.word)
}

function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
