import type { Query } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { canBeTypo, isTypoOf } from './fuzzy-match.ts'

/**
 * Groups of words. A video must contain at least one word of each group. Words are lexemes of
 * PostgreSQL's parser in lower case, as in the rows of `video_search`.
 */
export type SearchWords = readonly (readonly string[])[]

/** Maximum number of corrected words. Each correction needs one or two queries. */
const MAX_FUZZY_WORDS = 8
/** Maximum number of words that replace one typo or prefix. */
const MAX_FUZZY_CANDIDATES = 10
/** Minimum length in characters. Shorter prefixes match too many words. */
const MIN_PREFIX_LENGTH = 3
const MAX_PREFIX_MATCHES = 100

/** Returns the words of a search text, one per group. */
export async function readSearch(query: Query, text: string): Promise<SearchWords> {
  const [row] = await query<{ words: string[] }>(`select tsvector_to_array(to_tsvector('pg_catalog.simple', plain_words($1))) as words`, [
    text,
  ])
  return (row?.words ?? []).map((word) => [word])
}

/**
 * Returns the words with replacements for words that no video of the scope contains: title words that
 * start with the word, or else title words of which it can be a typo. Returns undefined if a video
 * contains all words or if a word has no replacement. The caller must disable sequential scans.
 */
export async function expandFuzzy(query: Query, scope: Scope, exactWords: SearchWords): Promise<SearchWords | undefined> {
  if (await hasMatch(query, scope, exactWords)) return undefined
  const expanded: (readonly string[])[] = []
  for (const group of exactWords) {
    const [word = ''] = group
    const isUnchanged = expanded.length >= MAX_FUZZY_WORDS || (await hasMatch(query, scope, [group]))
    const replacements = isUnchanged ? group : await findFuzzyCandidates(query, scope, word)
    if (replacements.length === 0) return undefined
    expanded.push(replacements)
  }
  return expanded
}

/** Filters whose values are in the same index as the words of a row. */
export interface IndexFilters {
  scope: Scope
  state?: string | undefined
  tag?: string | undefined
  /** Numbers of windows (ranges of consecutive videos). A match must be in one of them. */
  windows?: readonly number[] | undefined
  /**
   * Set for very many matches: captions are not searched, and the statement returns any matches or the
   * newest ones.
   */
  videoWordsOnly?: 'any' | 'newest' | undefined
}

/** Returns the words and the filters as a tsquery. */
export function toTsQuery(words: SearchWords, { scope, state, tag, windows }: IndexFilters): string {
  const marks = [
    ...(scope === null ? [] : [[`@${scope}`]]),
    ...(state === undefined ? [] : [[`=${state}`]]),
    ...(tag === undefined ? [] : [[`#${tag}`]]),
    ...(windows === undefined ? [] : [windows.map((window) => `%${window}`)]),
  ]
  return [...words, ...marks].map((group) => `(${group.map(quoteWord).join(' | ')})`).join(' & ')
}

/** Returns the newest windows. They contain at least 32,768 videos if no video was deleted. */
export async function findNewestWindows(query: Query): Promise<number[]> {
  const [row] = await query<{ last: number }>('select (last_value / 16384)::int as last from video_search_serial')
  const last = row?.last ?? 0
  return [last, last - 1, last - 2].filter((window) => window >= 0)
}

/** Returns the tsquery for captions. The captions of a media are one row. */
export const toCaptionTsQuery = (words: SearchWords, scope: Scope) => toTsQuery(words, { scope })

/** Maximum number of media whose captions match. */
const MAX_CAPTION_MATCHES = 1_000

/**
 * Maximum number of candidates per word for videos that contain some of the words and whose captions
 * contain the others. The limit applies to videos and to captions.
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
 * Returns the statement for the rows `s` of `video_search` that match by the words of the video, by its
 * captions, or by both together. It is the union of three statements. Each returns at most `limit` rows,
 * uses an index, and excludes the matches of the statements before it. With windows, only the first
 * statement is used.
 */
export function createMatchStatement(words: SearchWords, filters: IndexFilters, { columns, where, limit, add }: MatchOptions): string {
  const joinConditions = (conditions: readonly string[]) => conditions.map((condition) => ` and ${condition}`).join('')
  const fromMatchingVideos = `from video_search s where s.words @@ ${add(toTsQuery(words, filters))}::tsquery${joinConditions(where)}`
  if (filters.videoWordsOnly === 'newest') {
    return `select ${columns} from (
      select s.video_id, s.create_time, s.title_key, s.words ${fromMatchingVideos} order by s.create_time desc, s.video_id desc limit ${limit}) as s`
  }
  const videoMatches = `select ${columns} ${fromMatchingVideos} limit ${limit}`
  if (filters.windows || filters.videoWordsOnly === 'any') return videoMatches
  const filterQuery = toTsQuery([], filters)
  const matchesVideo = `s.words @@ ${add(toTsQuery(words, { scope: null }))}::tsquery`
  const furtherConditions = joinConditions([
    ...where,
    ...(filterQuery === '' ? [] : [`s.words @@ ${add(filterQuery)}::tsquery`]),
    `not ${matchesVideo}`,
  ])
  const inCaptions = `@@ ${add(toCaptionTsQuery(words, filters.scope))}::tsquery`
  // `offset 0` forces one lookup per media. Other plans would read all videos of the organisation.
  const captionMatches = `select ${columns} from (select m.media_id from caption_search m where m.words ${inCaptions} limit ${MAX_CAPTION_MATCHES}) as m
    cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${furtherConditions} limit ${limit}`
  const statements =
    words.length < 2
      ? [videoMatches, captionMatches]
      : [videoMatches, captionMatches, createMixedStatement(words, filters, { columns, furtherConditions, inCaptions, limit, add })]
  return statements.map((part) => `(${part})`).join(' union all ')
}

/**
 * Returns the statement for videos whose captions contain the words that the video lacks. The query
 * contains the media id, so that it reads one row of captions.
 */
function createMixedStatement(
  words: SearchWords,
  filters: IndexFilters,
  {
    columns,
    furtherConditions,
    inCaptions,
    limit,
    add,
  }: { columns: string; furtherConditions: string; inCaptions: string; limit: number; add: (value: unknown) => string },
): string {
  const searchedGroups = words.slice(0, MAX_MIXED_WORDS)
  const videoQueries = add(searchedGroups.map((group) => toTsQuery([group], filters)))
  const captionQueries = add(searchedGroups.map((group) => toCaptionTsQuery([group], filters.scope)))
  const groupQueries = add(words.map((group) => toTsQuery([group], { scope: null })))
  return `select ${columns} from (
      select distinct candidate.video_id from unnest(${videoQueries}::text[], ${captionQueries}::text[]) as word (video_query, caption_query) cross join lateral (
        (select s.video_id from video_search s where s.words @@ word.video_query::tsquery${furtherConditions} limit ${MAX_MIXED_CANDIDATES})
        union all
        (select s.video_id from (select m.media_id from caption_search m where m.words @@ word.caption_query::tsquery limit ${MAX_MIXED_CANDIDATES}) as m
         cross join lateral (select s.* from video_search s where s.media_id = m.media_id offset 0) as s where true${furtherConditions}
         limit ${MAX_MIXED_CANDIDATES})) as candidate
    ) as candidates join video_search s using (video_id)
    where exists (select from caption_search m where m.words @@ (
      select concat_ws(' & ', '''~' || s.media_id || '''', string_agg(missing.word, ' & '))
      from unnest(${groupQueries}::text[]) as missing (word) where not s.words @@ missing.word::tsquery)::tsquery)
    and not exists (select from caption_search m where m.media_id = s.media_id and m.words ${inCaptions}) limit ${limit}`
}

async function hasMatch(query: Query, scope: Scope, words: SearchWords): Promise<boolean> {
  // A GIN index always returns all matches. For a very frequent word, a search of the newest windows
  // is faster.
  const windows = scope === null ? await findNewestWindows(query) : undefined
  return (
    (windows !== undefined && (await hasMatchInWindows(query, { scope, windows }, words))) || hasMatchInWindows(query, { scope }, words)
  )
}

async function hasMatchInWindows(query: Query, filters: IndexFilters, words: SearchWords): Promise<boolean> {
  const values: unknown[] = []
  const add = (value: unknown) => `$${values.push(value)}`
  const matches = createMatchStatement(words, filters, { columns: 's.video_id', where: [], limit: 1, add })
  return (await query(`select from (${matches}) as found limit 1`, values)).length > 0
}

/**
 * Returns title words that start with this word, or else title words with one or two different letters.
 * Words that no video of the scope contains are omitted.
 */
async function findFuzzyCandidates(query: Query, scope: Scope, word: string): Promise<string[]> {
  const prefixWords = await findFirstCandidates(query, scope, (organisation) => findPrefixMatches(query, word, organisation))
  if (prefixWords.length > 0 || !canBeTypo(word)) return prefixWords
  return findFirstCandidates(query, scope, (organisation) => findSimilarWords(query, word, organisation))
}

/**
 * Reads candidates from the words of the organisation first, so that words of other organisations
 * do not use up the limit. If there are none, reads from the words of all organisations, because
 * captions contain words that no title of the organisation has.
 */
async function findFirstCandidates(query: Query, scope: Scope, read: (organisation: Scope) => Promise<string[]>): Promise<string[]> {
  const organisationWords = scope === null ? [] : await filterByScope(query, scope, await read(scope))
  return organisationWords.length > 0 ? organisationWords : filterByScope(query, scope, await read(null))
}

async function findPrefixMatches(query: Query, word: string, organisation: Scope): Promise<string[]> {
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
    [words, words.map((word) => toTsQuery([[word]], { scope }))],
  )
  return rows.map((row) => row.word)
}

function quoteWord(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
