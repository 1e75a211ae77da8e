import type { Db, Query } from '@vitascope/postgres'
import type { Scope } from '../visibility.ts'
import type { Video } from './video.ts'
import { countStatement, type Filters, keyStatement, MOST_FOUND, toKey } from './video-list-statement.ts'
import { readToken, writeToken } from './video-list-token.ts'
import type { Key, VideoListing } from './video-listing.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'
import { forgiveTypos, newestWindows, readSearch, type SearchWords } from './video-search.ts'

export interface VideoPage {
  videos: Video[]
  /** Empty at the end. */
  nextPageToken: string
}

export interface VideoLists {
  /**
   * At most `size` videos after the token's place and `skip` more. A page ends early where `weigh` (bytes of a video) adds up to more
   * than a message may hold.
   */
  page(
    listing: VideoListing,
    place: { size: number; token: string; skip: number },
    weigh: (video: Video) => number,
    signal?: AbortSignal,
  ): Promise<VideoPage>
  /** Of a tag or folder, 10,000 stands for as many or more; of a query, 1,000. */
  count(listing: VideoListing, signal?: AbortSignal): Promise<number>
}

/** Rows read at once, so that a page of large videos is not in memory many times over. */
const CHUNK = 100
const PAGE_BYTES = 3 * 1024 * 1024

/** Videos of a scope from which on those that have a word are not all looked at. */
const LARGE_SCOPE = 20_000

export function createVideoLists(db: Db, largeScope = LARGE_SCOPE): VideoLists {
  return {
    async page(listing, { size, token, skip }, weigh, signal) {
      const after = readToken(listing, token)
      const keys = await withFilters({ db, largeScope }, listing, signal, async (query, filters) => {
        const { text, values } = keyStatement(listing, filters, { after, limit: size + 1, skip })
        const rows = await query<Parameters<typeof toKey>[1]>(text, values)
        return rows.length === 0 ? undefined : rows.map((row) => toKey(listing, row))
      })
      return readPage(db, listing, { keys: keys ?? [], size, after }, weigh, signal)
    },
    async count(listing, signal) {
      const count = await withFilters(
        { db, largeScope },
        listing,
        signal,
        async (query, filters) => (await countBy(query, filters)) || undefined,
      )
      return count ?? 0
    },
  }
}

/** Looks up what the filters lead to, and `find`s by them; undefined is nothing. What is not found as written may be a typo. */
async function withFilters<T>(
  { db, largeScope }: { db: Db; largeScope: number },
  listing: VideoListing,
  signal: AbortSignal | undefined,
  find: (query: Query, filters: Filters) => Promise<T | undefined>,
): Promise<T | undefined> {
  signal?.throwIfAborted()
  const { folderId, query: searched, state, tag } = listing
  const scope = folderId === undefined ? listing.scope : await folderScope(db, listing.scope, folderId)
  if (scope === undefined) return undefined
  const filters = { scope, state, tag, folderId }
  if (searched === undefined) return find(db.query, filters)
  return db.reading(async (query) => {
    // How many rows have all of some words can only be guessed, and a guess of many makes reading all rows look cheap.
    await query('set local enable_seqscan = off')
    const words = await readSearch(query, searched)
    if (words.length === 0) return undefined
    const findBy = async (words: SearchWords) => {
      const narrowing = await whereVeryMany(query, { ...filters, words }, largeScope)
      return { found: await find(query, { ...filters, words, ...narrowing }), isWritten: Object.keys(narrowing).length > 0 }
    }
    const { found, isWritten } = await findBy(words)
    // A page behind the last one has nothing either, but then the words are no typos.
    if (found !== undefined || isWritten) return found
    const meant = await forgiveTypos(query, scope, words)
    return meant && (await findBy(meant)).found
  }, signal)
}

/**
 * Where as many videos have the words themselves as are ranked, the newest are found: of a large scope in the newest windows, if these have
 * so many; of others all are looked at.
 */
async function whereVeryMany(query: Query, filters: Filters, largeScope: number): Promise<Pick<Filters, 'windows' | 'own'>> {
  const areMany = async (how: Partial<Filters>) => (await countBy(query, { ...filters, ...how })) >= MOST_FOUND
  if ((await countBy(query, { scope: filters.scope })) >= largeScope) {
    const windows = await newestWindows(query)
    return (await areMany({ windows })) ? { windows } : {}
  }
  return filters.scope !== null && (await areMany({ own: 'some' })) ? { own: 'newest' } : {}
}

async function countBy(query: Query, filters: Filters): Promise<number> {
  const { text, values } = countStatement(filters)
  const [row] = await query<{ count: string }>(text, values)
  return Number(row?.count ?? 0)
}

/** The organisation of a folder, to which its videos belong; undefined when the scope has no such folder. */
async function folderScope(db: Db, scope: Scope, folderId: string): Promise<string | undefined> {
  const [row] = await db.query<{ organisation_id: string }>(
    'select organisation_id from folder where folder_id = $1 and ($2::bigint is null or organisation_id = $2)',
    [folderId, scope],
  )
  return row?.organisation_id
}

async function readPage(
  db: Db,
  listing: VideoListing,
  { keys, size, after }: { keys: readonly Key[]; size: number; after: Key | undefined },
  weigh: (video: Video) => number,
  signal?: AbortSignal,
): Promise<VideoPage> {
  const wanted = keys.slice(0, size)
  const videos: Video[] = []
  let last = after
  let bytes = 0
  for (let start = 0; start < wanted.length; start += CHUNK) {
    signal?.throwIfAborted()
    const chunk = wanted.slice(start, start + CHUNK)
    const found = await readVideos(db, listing.scope, chunk)
    for (const key of chunk) {
      const video = found.get(key.videoId)
      // One that was deleted since its key was read is passed over.
      bytes += video ? weigh(video) : 0
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
