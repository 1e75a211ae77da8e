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
/** Words that a typo, or the beginning of a word, may stand for. */
const MOST_MEANT = 10
/** Characters: what is shorter begins too many words. */
const SHORTEST_BEGINNING = 3
const MOST_BEGUN = 100

/** The words of a search, one a group; empty when there are none. */
export async function readSearch(query: Query, text: string): Promise<SearchWords> {
  const [row] = await query<{ words: string[] }>(`select tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words($1))) as words`, [
    text,
  ])
  return (row?.words ?? []).map((word) => [word])
}

/**
 * For words that were not found: where no video of the scope has them all, those that none has are read as beginnings of words in titles, or as typos
 * of them. Undefined when that leads nowhere. Goes by the index alone: run it where sequential scans are off.
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
  /** Windows of videos that follow one another, by number: one of them. */
  windows?: readonly number[] | undefined
  /** Of very many, how those are found that have the words themselves: some of them, or the newest. */
  own?: 'some' | 'newest' | undefined
}

/** The words as a tsquery, narrowed by marks within the same index. */
export function toQuery(words: SearchWords, { scope, state, tag, windows }: Marks): string {
  const marks = [
    ...(scope === null ? [] : [[`@${scope}`]]),
    ...(state === undefined ? [] : [[`=${state}`]]),
    ...(tag === undefined ? [] : [[`#${tag}`]]),
    ...(windows === undefined ? [] : [windows.map((window) => `%${window}`)]),
  ]
  return [...words, ...marks].map((group) => `(${group.map(quoteWord).join(' | ')})`).join(' & ')
}

/** The newest windows, with 32,768 videos at least while none was deleted. */
export async function newestWindows(query: Query): Promise<number[]> {
  const [row] = await query<{ last: number }>('select (last_value / 16384)::int as last from video_search_serial')
  const last = row?.last ?? 0
  return [last, last - 1, last - 2].filter((window) => window >= 0)
}

/** What is said of a video is in the row of its media. */
export const spokenQuery = (words: SearchWords, scope: Scope) => toQuery(words, { scope })

/** Media in which all words are said: each is looked up, which takes some microseconds. */
const MOST_SPOKEN = 1_000

/** Videos of one word, of titles and of captions each, among which those are sought that have some words here and some there. */
const MOST_MIXED = 50
const MOST_MIXED_WORDS = 8

interface Wanted {
  columns: string
  where: readonly string[]
  limit: number
  /** Adds a value and answers its placeholder. */
  add: (value: unknown) => string
}

/**
 * The videos (`s`, of `video_search`) that have the words themselves, in what is said in them, or some here and some there: three
 * statements, each bounded by `limit` and served by an index, and each without what those before it find, so that nothing is sorted to
 * tell them apart. Within windows, those that have the words themselves.
 */
export function matchStatement(words: SearchWords, marks: Marks, { columns, where, limit, add }: Wanted): string {
  const and = (conditions: readonly string[]) => conditions.map((condition) => ` and ${condition}`).join('')
  const matching = `from video_search s where s.words @@ ${add(toQuery(words, marks))}::tsquery${and(where)}`
  if (marks.own === 'newest') {
    return `select ${columns} from (
      select s.video_id, s.create_time, s.title_key, s.words ${matching} order by s.create_time desc, s.video_id desc limit ${limit}) as s`
  }
  const own = `select ${columns} ${matching} limit ${limit}`
  if (marks.windows || marks.own === 'some') return own
  const marked = toQuery([], marks)
  const here = `s.words @@ ${add(toQuery(words, { scope: null }))}::tsquery`
  const also = and([...where, ...(marked === '' ? [] : [`s.words @@ ${add(marked)}::tsquery`]), `not ${here}`])
  const said = `@@ ${add(spokenQuery(words, marks.scope))}::tsquery`
  // Media by media: a plan that reads all videos of an organisation for those of some media is never a good one.
  const spoken = `select ${columns} from (select m.media_id from media_spoken m where m.spoken ${said} limit ${MOST_SPOKEN}) as m
    cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${also} limit ${limit}`
  const parts = words.length < 2 ? [own, spoken] : [own, spoken, mixedStatement(words, marks, { columns, also, said, limit, add })]
  return parts.map((part) => `(${part})`).join(' union all ')
}

/** What is missing of the words of a video is looked up in the index of what is said in its media, whose own mark narrows that to one. */
function mixedStatement(
  words: SearchWords,
  marks: Marks,
  { columns, also, said, limit, add }: { columns: string; also: string; said: string; limit: number; add: (value: unknown) => string },
): string {
  const some = words.slice(0, MOST_MIXED_WORDS)
  const owns = add(some.map((group) => toQuery([group], marks)))
  const spokens = add(some.map((group) => spokenQuery([group], marks.scope)))
  const each = add(words.map((group) => toQuery([group], { scope: null })))
  return `select ${columns} from (
      select distinct narrow.video_id from unnest(${owns}::text[], ${spokens}::text[]) as word (own, spoken) cross join lateral (
        (select s.video_id from video_search s where s.words @@ word.own::tsquery${also} limit ${MOST_MIXED})
        union all
        (select s.video_id from (select m.media_id from media_spoken m where m.spoken @@ word.spoken::tsquery limit ${MOST_MIXED}) as m
         cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${also}
         limit ${MOST_MIXED})) as narrow
    ) as either join video_search s using (video_id)
    where exists (select from media_spoken m where m.spoken @@ (
      select concat_ws(' & ', '''~' || s.media_id || '''', string_agg(missing.word, ' & '))
      from unnest(${each}::text[]) as missing (word) where not s.words @@ missing.word::tsquery)::tsquery)
    and not exists (select from media_spoken m where m.media_id = s.media_id and m.spoken ${said}) limit ${limit}`
}

async function someMatch(query: Query, scope: Scope, words: SearchWords): Promise<boolean> {
  // An index of words finds all or none: of a word that very many have, some are found sooner among the newest.
  const windows = scope === null ? await newestWindows(query) : undefined
  return (windows !== undefined && (await isFound(query, { scope, windows }, words))) || isFound(query, { scope }, words)
}

async function isFound(query: Query, marks: Marks, words: SearchWords): Promise<boolean> {
  const values: unknown[] = []
  const add = (value: unknown) => `$${values.push(value)}`
  const matches = matchStatement(words, marks, { columns: 's.video_id', where: [], limit: 1, add })
  return (await query(`select from (${matches}) as found limit 1`, values)).length > 0
}

/** Words of titles that begin with this one, or else are a letter or two from it, and that videos of the scope have. */
async function meantBy(query: Query, scope: Scope, word: string): Promise<string[]> {
  const begun = await ofScope(query, scope, await begunBy(query, word))
  if (begun.length > 0 || !mayBeTypo(word)) return begun
  const similar = await query<{ word: string }>('select word from similar_title_words($1)', [word])
  const close = similar.map((row) => row.word).filter((candidate) => isTypoOf(word, candidate))
  return ofScope(query, scope, close)
}

async function begunBy(query: Query, word: string): Promise<string[]> {
  if ([...word].length < SHORTEST_BEGINNING) return []
  // The words stand in the order of their bytes, in which nothing comes after the last code point.
  const rows = await query<{ word: string }>(
    `select word from title_word where word > $1 and word < $2 order by word limit ${MOST_BEGUN}`,
    [word, `${word}\u{10ffff}`],
  )
  return rows.map((row) => row.word)
}

/** Those that some video of the scope has; for the system every word of titles will do. */
async function ofScope(query: Query, scope: Scope, words: readonly string[]): Promise<string[]> {
  if (words.length === 0 || scope === null) return words.slice(0, MOST_MEANT)
  const rows = await query<{ word: string }>(
    `select c.word from unnest($1::text[], $2::text[]) as c (word, query)
     where exists (select from video_search s where s.words @@ c.query::tsquery)
       or exists (select from media_spoken m where m.spoken @@ c.query::tsquery) limit ${MOST_MEANT}`,
    [words, words.map((word) => toQuery([[word]], { scope }))],
  )
  return rows.map((row) => row.word)
}

function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
