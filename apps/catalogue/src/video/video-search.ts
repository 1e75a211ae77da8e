import type { Query } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isTypoOf, mayBeTypo } from './fuzzy-match.ts'

/**
 * The words that a video must contain: at least one of each group. Words are lexemes of
 * PostgreSQL's parser in lower case, as in the rows of `video_search`.
 */
export type SearchWords = readonly (readonly string[])[]

/** Further words are not corrected, because each costs one or two lookups. */
const MAX_FUZZY_WORDS = 8
/** Maximum number of words that replace a typo or a prefix. */
const MAX_FUZZY_CANDIDATES = 10
/** In characters. Shorter prefixes match too many words. */
const MIN_PREFIX_LENGTH = 3
const MAX_PREFIX_MATCHES = 100

/** Returns the words of a search, one per group; empty if there are none. */
export async function readSearch(query: Query, text: string): Promise<SearchWords> {
  const [row] = await query<{ words: string[] }>(`select tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words($1))) as words`, [
    text,
  ])
  return (row?.words ?? []).map((word) => [word])
}

/**
 * Returns replacements for words that were not found. If no video of the scope contains all words,
 * each unknown word is replaced by title words that start with it, or else by those of which it may
 * be a typo. Returns undefined if there are none. Relies on indexes only: disable sequential scans
 * before.
 */
export async function expandFuzzy(query: Query, scope: Scope, exact: SearchWords): Promise<SearchWords | undefined> {
  if (await hasMatch(query, scope, exact)) return undefined
  const expanded: (readonly string[])[] = []
  for (const group of exact) {
    const [word = ''] = group
    const known = expanded.length >= MAX_FUZZY_WORDS || (await hasMatch(query, scope, [group]))
    const replacements = known ? group : await fuzzyCandidates(query, scope, word)
    if (replacements.length === 0) return undefined
    expanded.push(replacements)
  }
  return expanded
}

/** Marks that are indexed together with a row's words. */
export interface Marks {
  scope: Scope
  state?: string | undefined
  tag?: string | undefined
  /** Numbers of windows (ranges of consecutive videos). A match must be in one of them. */
  windows?: readonly number[] | undefined
  /**
   * Set for very many matches: captions are not searched, and the statement returns any matches or the
   * newest ones.
   */
  ownWordsOnly?: 'any' | 'newest' | undefined
}

/** Returns the words as a tsquery, restricted by marks in the same index. */
export function toQuery(words: SearchWords, { scope, state, tag, windows }: Marks): string {
  const marks = [
    ...(scope === null ? [] : [[`@${scope}`]]),
    ...(state === undefined ? [] : [[`=${state}`]]),
    ...(tag === undefined ? [] : [[`#${tag}`]]),
    ...(windows === undefined ? [] : [windows.map((window) => `%${window}`)]),
  ]
  return [...words, ...marks].map((group) => `(${group.map(quoteWord).join(' | ')})`).join(' & ')
}

/** Returns the newest windows. They contain at least 32,768 videos if none was deleted. */
export async function newestWindows(query: Query): Promise<number[]> {
  const [row] = await query<{ last: number }>('select (last_value / 16384)::int as last from video_search_serial')
  const last = row?.last ?? 0
  return [last, last - 1, last - 2].filter((window) => window >= 0)
}

/** The tsquery for the captions of a media. They are stored in one row per media. */
export const captionQuery = (words: SearchWords, scope: Scope) => toQuery(words, { scope })

/** Maximum number of media whose captions match. Each costs a lookup of some microseconds. */
const MAX_CAPTION_MATCHES = 1_000

/**
 * Candidates per word, for matches of some words in the video and other words in its captions.
 * Titles and captions have this limit each.
 */
const MAX_MIXED_CANDIDATES = 50
const MAX_MIXED_WORDS = 8

interface MatchOptions {
  columns: string
  where: readonly string[]
  limit: number
  /** Adds a value and returns its placeholder. */
  add: (value: unknown) => string
}

/**
 * Returns the statement for the videos (`s`, of `video_search`) that match: by their own words, by
 * their captions, or by both together. It consists of three statements. Each is bounded by `limit`
 * and uses an index. Each excludes the matches of the ones before, so that no sort is needed to
 * remove duplicates. With windows, only the first one is used.
 */
export function matchStatement(words: SearchWords, marks: Marks, { columns, where, limit, add }: MatchOptions): string {
  const and = (conditions: readonly string[]) => conditions.map((condition) => ` and ${condition}`).join('')
  const matching = `from video_search s where s.words @@ ${add(toQuery(words, marks))}::tsquery${and(where)}`
  if (marks.ownWordsOnly === 'newest') {
    return `select ${columns} from (
      select s.video_id, s.create_time, s.title_key, s.words ${matching} order by s.create_time desc, s.video_id desc limit ${limit}) as s`
  }
  const own = `select ${columns} ${matching} limit ${limit}`
  if (marks.windows || marks.ownWordsOnly === 'any') return own
  const marked = toQuery([], marks)
  const here = `s.words @@ ${add(toQuery(words, { scope: null }))}::tsquery`
  const furtherConditions = and([...where, ...(marked === '' ? [] : [`s.words @@ ${add(marked)}::tsquery`]), `not ${here}`])
  const inCaptions = `@@ ${add(captionQuery(words, marks.scope))}::tsquery`
  // Forces one lookup per media. A plan that reads all videos of an organisation to find those of a
  // few media is always slower.
  const spoken = `select ${columns} from (select m.media_id from caption_search m where m.words ${inCaptions} limit ${MAX_CAPTION_MATCHES}) as m
    cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${furtherConditions} limit ${limit}`
  const parts =
    words.length < 2 ? [own, spoken] : [own, spoken, mixedStatement(words, marks, { columns, furtherConditions, inCaptions, limit, add })]
  return parts.map((part) => `(${part})`).join(' union all ')
}

/**
 * Looks up the words that a video lacks in the captions of its media. The mark of the media
 * restricts that lookup to one row.
 */
function mixedStatement(
  words: SearchWords,
  marks: Marks,
  {
    columns,
    furtherConditions,
    inCaptions,
    limit,
    add,
  }: { columns: string; furtherConditions: string; inCaptions: string; limit: number; add: (value: unknown) => string },
): string {
  const some = words.slice(0, MAX_MIXED_WORDS)
  const owns = add(some.map((group) => toQuery([group], marks)))
  const spokens = add(some.map((group) => captionQuery([group], marks.scope)))
  const each = add(words.map((group) => toQuery([group], { scope: null })))
  return `select ${columns} from (
      select distinct narrow.video_id from unnest(${owns}::text[], ${spokens}::text[]) as word (own, spoken) cross join lateral (
        (select s.video_id from video_search s where s.words @@ word.own::tsquery${furtherConditions} limit ${MAX_MIXED_CANDIDATES})
        union all
        (select s.video_id from (select m.media_id from caption_search m where m.words @@ word.spoken::tsquery limit ${MAX_MIXED_CANDIDATES}) as m
         cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${furtherConditions}
         limit ${MAX_MIXED_CANDIDATES})) as narrow
    ) as either join video_search s using (video_id)
    where exists (select from caption_search m where m.words @@ (
      select concat_ws(' & ', '''~' || s.media_id || '''', string_agg(missing.word, ' & '))
      from unnest(${each}::text[]) as missing (word) where not s.words @@ missing.word::tsquery)::tsquery)
    and not exists (select from caption_search m where m.media_id = s.media_id and m.words ${inCaptions}) limit ${limit}`
}

async function hasMatch(query: Query, scope: Scope, words: SearchWords): Promise<boolean> {
  // A GIN index returns all matches or none. For a very frequent word, a search of the newest
  // windows is faster.
  const windows = scope === null ? await newestWindows(query) : undefined
  return (windows !== undefined && (await isFound(query, { scope, windows }, words))) || isFound(query, { scope }, words)
}

async function isFound(query: Query, marks: Marks, words: SearchWords): Promise<boolean> {
  const values: unknown[] = []
  const add = (value: unknown) => `$${values.push(value)}`
  const matches = matchStatement(words, marks, { columns: 's.video_id', where: [], limit: 1, add })
  return (await query(`select from (${matches}) as found limit 1`, values)).length > 0
}

/**
 * Returns title words that start with this word, or else that are one or two letters different, if
 * videos of the scope contain them.
 */
async function fuzzyCandidates(query: Query, scope: Scope, word: string): Promise<string[]> {
  const prefixWords = await findFirstCandidates(query, scope, (organisation) => prefixMatches(query, word, organisation))
  if (prefixWords.length > 0 || !mayBeTypo(word)) return prefixWords
  return findFirstCandidates(query, scope, (organisation) => findSimilarWords(query, word, organisation))
}

/**
 * Reads candidates from the words of the organisation first, so that words of other organisations
 * do not use up the limit. If there are none, reads from the words of all organisations, because
 * captions contain words that no title of the organisation has.
 */
async function findFirstCandidates(query: Query, scope: Scope, read: (organisation: Scope) => Promise<string[]>): Promise<string[]> {
  const own = scope === null ? [] : await filterByScope(query, scope, await read(scope))
  return own.length > 0 ? own : filterByScope(query, scope, await read(null))
}

async function prefixMatches(query: Query, word: string, organisation: Scope): Promise<string[]> {
  if ([...word].length < MIN_PREFIX_LENGTH) return []
  // The words are ordered by bytes, so this upper bound follows every word with the prefix.
  const range = [word, `${word}\u{10ffff}`]
  const rows =
    organisation === null
      ? await query<{ word: string }>(
          `select word from title_word where word > $1 and word < $2 order by word limit ${MAX_PREFIX_MATCHES}`,
          range,
        )
      : await query<{ word: string }>(
          `select word from organisation_title_word
           where organisation_id = $3 and word > $1 and word < $2 order by word limit ${MAX_PREFIX_MATCHES}`,
          [...range, organisation],
        )
  return rows.map((row) => row.word)
}

async function findSimilarWords(query: Query, word: string, organisation: Scope): Promise<string[]> {
  const rows =
    organisation === null
      ? await query<{ word: string }>('select word from similar_title_words($1)', [word])
      : await query<{ word: string }>('select word from similar_title_words($1, $2)', [word, organisation])
  return rows.map((row) => row.word).filter((candidate) => isTypoOf(word, candidate))
}

/** Returns the words that a video of the scope contains. For system users, every title word is accepted. */
async function filterByScope(query: Query, scope: Scope, words: readonly string[]): Promise<string[]> {
  if (words.length === 0 || scope === null) return words.slice(0, MAX_FUZZY_CANDIDATES)
  const rows = await query<{ word: string }>(
    `select c.word from unnest($1::text[], $2::text[]) as c (word, query)
     where exists (select from video_search s where s.words @@ c.query::tsquery)
       or exists (select from caption_search m where m.words @@ c.query::tsquery) limit ${MAX_FUZZY_CANDIDATES}`,
    [words, words.map((word) => toQuery([[word]], { scope }))],
  )
  return rows.map((row) => row.word)
}

function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
