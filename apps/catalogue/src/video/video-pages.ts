import type { Db, Query } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import type { Video } from './video.ts'
import { readToken, writeToken } from './video-list-token.ts'
import type { Key, VideoQuery } from './video-query.ts'
import { countStatement, type Filters, keyStatement, MAX_FOUND, toKey } from './video-query-sql.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'
import { expandFuzzy, newestWindows, readSearch, type SearchWords } from './video-search.ts'

export interface VideoPage {
  videos: Video[]
  /** Empty on the last page. */
  nextPageToken: string
}

export interface VideoPages {
  /**
   * Returns at most `size` videos after the token's position and `skip` more. A page ends early if
   * the sum of `messageSize` (bytes per video) exceeds `PAGE_BYTES`.
   */
  page(
    listing: VideoQuery,
    place: { size: number; token: string; skip: number },
    messageSize: (video: Video) => number,
    signal?: AbortSignal,
  ): Promise<VideoPage>
  /** Returns the number of videos. For a tag or folder, it is capped at 10,000; for a search, at 1,000. */
  count(listing: VideoQuery, signal?: AbortSignal): Promise<number>
}

/** Number of rows that are read at once, to bound the memory of a page of large videos. */
const CHUNK = 100
const PAGE_BYTES = 3 * 1024 * 1024

/** Number of videos in a scope above which a search does not examine all matches. */
const LARGE_SCOPE = 20_000

export function createVideoPages(db: Db, largeScope = LARGE_SCOPE): VideoPages {
  return {
    async page(listing, { size, token, skip }, messageSize, signal) {
      const after = readToken(listing, token)
      const keys = await withFilters({ db, largeScope }, listing, signal, async (query, filters) => {
        const { text, values } = keyStatement(listing, filters, { after, limit: size + 1, skip })
        const rows = await query<Parameters<typeof toKey>[1]>(text, values)
        return rows.length === 0 ? undefined : rows.map((row) => toKey(listing, row))
      })
      return readPage(db, listing, { keys: keys ?? [], size, after }, messageSize, signal)
    },
    async count(listing, signal) {
      const count = await withFilters(
        { db, largeScope },
        listing,
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
  listing: VideoQuery,
  signal: AbortSignal | undefined,
  find: (query: Query, filters: Filters) => Promise<T | undefined>,
): Promise<T | undefined> {
  signal?.throwIfAborted()
  const { folderId, query: searched, state, tag } = listing
  const scope = folderId === undefined ? listing.scope : await folderScope(db, listing.scope, folderId)
  if (scope === undefined) return undefined
  const filters = { scope, state, tag, folderId }
  if (searched === undefined) return find(db.query, filters)
  return db.readOnly(async (query) => {
    // The planner cannot estimate how many rows contain several words. A high estimate would make a
    // sequential scan look cheap.
    await query('set local enable_seqscan = off')
    const words = await readSearch(query, searched)
    if (words.length === 0) return undefined
    const findBy = async (words: SearchWords) => {
      const narrowing = await narrowLargeResult(query, { ...filters, words }, largeScope)
      return { found: await find(query, { ...filters, words, ...narrowing }), isNarrowed: Object.keys(narrowing).length > 0 }
    }
    const { found, isNarrowed } = await findBy(words)
    // A page after the last one is also empty, but then the words do match.
    if (found !== undefined || isNarrowed) return found
    const expanded = await expandFuzzy(query, scope, words)
    return expanded && (await findBy(expanded)).found
  }, signal)
}

/**
 * If enough videos match the words themselves, only the newest are searched: in a large scope the
 * newest windows, otherwise the newest by creation time. Returns no restriction if fewer match.
 */
async function narrowLargeResult(query: Query, filters: Filters, largeScope: number): Promise<Pick<Filters, 'windows' | 'ownWordsOnly'>> {
  const isResultLarge = async (how: Partial<Filters>) => (await countMatches(query, { ...filters, ...how })) >= MAX_FOUND
  if ((await countMatches(query, { scope: filters.scope })) >= largeScope) {
    const windows = await newestWindows(query)
    return (await isResultLarge({ windows })) ? { windows } : {}
  }
  return filters.scope !== null && (await isResultLarge({ ownWordsOnly: 'any' })) ? { ownWordsOnly: 'newest' } : {}
}

async function countMatches(query: Query, filters: Filters): Promise<number> {
  const { text, values } = countStatement(filters)
  const [row] = await query<{ count: string }>(text, values)
  return Number(row?.count ?? 0)
}

/** Returns the organisation of a folder, or undefined if the scope has no such folder. */
async function folderScope(db: Db, scope: Scope, folderId: string): Promise<string | undefined> {
  const [row] = await db.query<{ organisation_id: string }>(
    'select organisation_id from folder where folder_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [folderId, scope],
  )
  return row?.organisation_id
}

async function readPage(
  db: Db,
  listing: VideoQuery,
  { keys, size, after }: { keys: readonly Key[]; size: number; after: Key | undefined },
  messageSize: (video: Video) => number,
  signal?: AbortSignal,
): Promise<VideoPage> {
  const pageKeys = keys.slice(0, size)
  const videos: Video[] = []
  let last = after
  let bytes = 0
  for (let start = 0; start < pageKeys.length; start += CHUNK) {
    signal?.throwIfAborted()
    const chunk = pageKeys.slice(start, start + CHUNK)
    const found = await readVideos(db, listing.scope, chunk)
    for (const key of chunk) {
      const video = found.get(key.videoId)
      // Videos that were deleted since their keys were read are skipped.
      bytes += video ? messageSize(video) : 0
      if (bytes > PAGE_BYTES && videos.length > 0) return { videos, nextPageToken: last ? writeToken(listing, last) : '' }
      if (video) videos.push(video)
      last = key
    }
  }
  return { videos, nextPageToken: keys.length > size && last ? writeToken(listing, last) : '' }
}

async function readVideos(db: Db, scope: Scope, keys: readonly Key[]): Promise<Map<string, Video>> {
  const rows = await db.query<VideoRow>(
    `${SELECT_VIDEO} where v.video_id = any($1::bigint[]) and ($2::bigint is null or v.organisation_id = $2)`,
    [keys.map(({ videoId }) => videoId), scope],
  )
  return new Map(rows.map((row) => [row.video_id, toVideo(row)]))
}
