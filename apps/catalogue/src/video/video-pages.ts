import { createMemo } from '@vitascope/concurrency'
import type { Db, Query } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { Video } from './video.ts'
import { readToken, writeToken } from './video-list-token.ts'
import type { Key, VideoQuery } from './video-query.ts'
import { createCountStatement, createKeyStatement, type Filters, type KeyPosition, MAX_MATCHES, toKey } from './video-query-sql.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'
import { expandFuzzy, findNewestWindows, readSearch, type SearchWords } from './video-search.ts'

export interface VideoPage {
  videos: Video[]
  /** Empty on the last page. */
  nextPageToken: string
}

export interface VideoPages {
  /**
   * Returns at most `size` videos. The page starts after the position of the token, without the next
   * `skip` videos. It ends early if the sum of `messageSize` (bytes per video) exceeds `PAGE_BYTES`.
   */
  page(
    videoQuery: VideoQuery,
    position: { size: number; token: string; skip: number },
    messageSize: (video: Video) => number,
    signal?: AbortSignal,
  ): Promise<VideoPage>
  /** Returns the number of videos. For a tag or folder, it is capped at 10,000; for a search, at 1,000. */
  count(videoQuery: VideoQuery, signal?: AbortSignal): Promise<number>
}

/** Number of rows per statement, which limits the memory for large videos. */
const ROWS_PER_READ = 100
const PAGE_BYTES = 3 * 1024 * 1024

/** Numbers of rows that small pages read, so that there are few prepared statements. */
const SMALL_LIMITS = [11, 21, 51, ROWS_PER_READ]

/** Memory of the videos that lists have read. */
const REMEMBERED_BYTES = 32 * 1024 * 1024

const READ_VIDEOS = `${SELECT_VIDEO} where v.video_id = any($1::bigint[]) and ($2::bigint is null or v.organisation_id = $2)`

/** If a scope has at least this number of videos, a search does not read all matches. */
const LARGE_SCOPE = 20_000

interface Reads {
  db: Db
  /** Returns the video of a row. */
  remember(row: string, toListed: () => Listed): Listed
}

interface Listed {
  video: Video
  /** Sort key of the title. */
  titleKey: string
}

function toListed(row: VideoRow): Listed {
  return { video: toVideo(row), titleKey: row.title_key }
}

export function createVideoPages(db: Db, largeScope = LARGE_SCOPE): VideoPages {
  // A video takes about five times the memory of its row.
  const remember = createMemo<Listed>({ maxBytes: REMEMBERED_BYTES, size: (text) => 6 * text.length })
  return {
    async page(videoQuery, { size, token, skip }, messageSize, signal) {
      const after = readToken(videoQuery, token)
      const reads = { db, remember }
      // A search reads its keys in a transaction with settings of its own.
      if (videoQuery.query === undefined && size < ROWS_PER_READ) {
        const entries = await withFilters({ db, largeScope }, videoQuery, signal, (_, filters) =>
          readSmallPage(reads, videoQuery, filters, { after, limit: size + 1, skip }),
        )
        return collectPage(videoQuery, entries ?? [], { size, after }, messageSize)
      }
      const keys = await withFilters({ db, largeScope }, videoQuery, signal, async (query, filters) => {
        const { text, values } = createKeyStatement(videoQuery, filters, { after, limit: size + 1, skip })
        const rows = await query<Parameters<typeof toKey>[1]>(text, values)
        return rows.length === 0 ? undefined : rows.map((row) => toKey(videoQuery, row))
      })
      return collectPage(videoQuery, readChunks(reads, videoQuery.scope, keys ?? [], signal), { size, after }, messageSize)
    },
    async count(videoQuery, signal) {
      const count = await withFilters(
        { db, largeScope },
        videoQuery,
        signal,
        async (query, filters) => (await countMatches(query, filters)) || undefined,
      )
      return count ?? 0
    },
  }
}

/**
 * Resolves the filters and calls `find` with them. `find` returns undefined if there is no match.
 * If a search finds no exact match, it is repeated with corrected typos.
 */
async function withFilters<T>(
  { db, largeScope }: { db: Db; largeScope: number },
  videoQuery: VideoQuery,
  signal: AbortSignal | undefined,
  find: (query: Query, filters: Filters) => Promise<T | undefined>,
): Promise<T | undefined> {
  signal?.throwIfAborted()
  const { folderId, query: searchText, state, tag } = videoQuery
  const scope = folderId === undefined ? videoQuery.scope : await findFolderScope(db, videoQuery.scope, folderId)
  if (scope === undefined) return undefined
  const filters = { scope, state, tag, folderId }
  if (searchText === undefined) return find(db.prepared, filters)
  return db.readOnly(async (query) => {
    // The planner cannot estimate the number of rows with several words. With a high estimate, it
    // would prefer a slow sequential scan.
    await query('set local enable_seqscan = off')
    const words = await readSearch(query, searchText)
    if (words.length === 0) return undefined
    const findWithWords = async (words: SearchWords) => {
      const narrowing = await narrowLargeResult(query, { ...filters, words }, largeScope)
      return { result: await find(query, { ...filters, words, ...narrowing }), isNarrowed: Object.keys(narrowing).length > 0 }
    }
    const { result, isNarrowed } = await findWithWords(words)
    // A page after the last page is also empty. `expandFuzzy` then returns undefined.
    if (result !== undefined || isNarrowed) return result
    const expanded = await expandFuzzy(query, scope, words)
    return expanded && (await findWithWords(expanded)).result
  }, signal)
}

/**
 * Returns a restriction to the newest videos if very many videos match the words: in a large scope to the
 * newest windows, otherwise by creation time. Returns no restriction if fewer videos match.
 */
async function narrowLargeResult(query: Query, filters: Filters, largeScope: number): Promise<Pick<Filters, 'windows' | 'videoWordsOnly'>> {
  const isResultLarge = async (restriction: Partial<Filters>) => (await countMatches(query, { ...filters, ...restriction })) >= MAX_MATCHES
  if ((await countMatches(query, { scope: filters.scope })) >= largeScope) {
    const windows = await findNewestWindows(query)
    return (await isResultLarge({ windows })) ? { windows } : {}
  }
  return filters.scope !== null && (await isResultLarge({ videoWordsOnly: 'any' })) ? { videoWordsOnly: 'newest' } : {}
}

async function countMatches(query: Query, filters: Filters): Promise<number> {
  const { text, values } = createCountStatement(filters)
  const [row] = await query<{ count: string }>(text, values)
  return Number(row?.count ?? 0)
}

/** Returns the organisation of a folder, or undefined if the scope has no such folder. */
async function findFolderScope(db: Db, scope: Scope, folderId: string): Promise<string | undefined> {
  const [row] = await db.query<{ organisation_id: string }>(
    'select organisation_id from folder where folder_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [folderId, scope],
  )
  return row?.organisation_id
}

/** A position in a list. `video` is undefined if the video was deleted since its key was read. */
interface Entry {
  key: Key
  video: Video | undefined
}

/** Returns the first `size` entries as a page, or fewer if they are large. */
async function collectPage(
  videoQuery: VideoQuery,
  entries: Iterable<Entry> | AsyncIterable<Entry>,
  { size, after }: { size: number; after: Key | undefined },
  messageSize: (video: Video) => number,
): Promise<VideoPage> {
  const videos: Video[] = []
  let last = after
  let count = 0
  let bytes = 0
  for await (const { key, video } of entries) {
    bytes += video ? messageSize(video) : 0
    const isFull = count === size || (bytes > PAGE_BYTES && videos.length > 0)
    if (isFull) return { videos, nextPageToken: last ? writeToken(videoQuery, last) : '' }
    if (video) videos.push(video)
    last = key
    count++
  }
  return { videos, nextPageToken: '' }
}

/** Reads keys and videos of a small page in one statement. */
async function readSmallPage({ db, remember }: Reads, videoQuery: VideoQuery, filters: Filters, position: KeyPosition): Promise<Entry[]> {
  const limit = SMALL_LIMITS.find((limit) => limit >= position.limit) ?? position.limit
  const keys = createKeyStatement(videoQuery, filters, { ...position, limit, isLimitConstant: true })
  const column = videoQuery.order === 'title' ? 'lower(v.title)' : 'v.create_time'
  const direction = videoQuery.descending ? 'desc' : 'asc'
  const scope = `$${keys.values.length + 1}::bigint`
  // The planner expects few ids in an array, so the plan of the prepared statement suits all values.
  const text = `${SELECT_VIDEO} where v.video_id = any(array(select video_id from (${keys.text}) page))
    and (${scope} is null or v.organisation_id = ${scope}) order by ${column} ${direction}, v.video_id ${direction}`
  const rows = await db.preparedTexts<VideoRow>(text, [...keys.values, videoQuery.scope])
  return rows.map(({ text, parse }) => {
    const { video, titleKey } = remember(text, () => toListed(parse()))
    return { key: { videoId: video.videoId, sort: videoQuery.order === 'title' ? titleKey : video.createTime }, video }
  })
}

/** Reads the videos of a large page in several statements. */
async function* readChunks(reads: Reads, scope: Scope, keys: readonly Key[], signal: AbortSignal | undefined): AsyncGenerator<Entry> {
  for (let start = 0; start < keys.length; start += ROWS_PER_READ) {
    signal?.throwIfAborted()
    const chunk = keys.slice(start, start + ROWS_PER_READ)
    const videosById = await readVideos(reads, scope, chunk)
    for (const key of chunk) yield { key, video: videosById.get(key.videoId) }
  }
}

/** Reads videos. Videos whose rows have not changed are the same objects as before. */
async function readVideos({ db, remember }: Reads, scope: Scope, keys: readonly Key[]): Promise<Map<string, Video>> {
  const rows = await db.preparedTexts<VideoRow>(READ_VIDEOS, [keys.map(({ videoId }) => videoId), scope])
  const videos = rows.map(({ text, parse }) => remember(text, () => toListed(parse())).video)
  return new Map(videos.map((video) => [video.videoId, video]))
}
