import { invalid } from '@vitascope/errors'
import { type Db, decodePageToken, encodePageToken } from '@vitascope/postgres'
import { parseId } from '../id/id.ts'
import type { Status } from '../media/status.ts'
import { checkText } from '../text.ts'
import type { Scope } from '../visibility.ts'
import type { Video } from './video.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from './video-row.ts'

export interface VideoListing {
  scope: Scope
  order: 'create_time' | 'title'
  descending: boolean
  state?: Status['state'] | undefined
  tag?: string | undefined
}

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
  count(listing: VideoListing, signal?: AbortSignal): Promise<number>
}

/** Rows read at once, so that a page of large videos is not in memory many times over. */
const CHUNK = 100
const PAGE_BYTES = 3 * 1024 * 1024

export function createVideoLists(db: Db): VideoLists {
  return {
    async page(listing, { size, token, skip }, weigh, signal) {
      const videos: Video[] = []
      let after = readToken(listing, token)
      let toSkip = skip
      let bytes = 0
      for (;;) {
        signal?.throwIfAborted()
        const wanted = Math.min(CHUNK, size - videos.length)
        const { text, values } = pageStatement(listing, after, wanted + 1, toSkip)
        const rows = await db.query<VideoRow>(text, values)
        for (const row of rows.slice(0, wanted)) {
          const video = toVideo(row)
          bytes += weigh(video)
          if (bytes > PAGE_BYTES && videos.length > 0) return { videos, nextPageToken: after ? writeToken(listing, after) : '' }
          videos.push(video)
          after = { sort: listing.order === 'title' ? row.title_key : row.create_time, id: row.video_id }
        }
        toSkip = 0
        const end = rows.length <= wanted
        if (end || videos.length === size) return { videos, nextPageToken: !end && after ? writeToken(listing, after) : '' }
      }
    },
    async count(listing, signal) {
      signal?.throwIfAborted()
      const { where, values } = filters(listing)
      const media = listing.state ? 'join media m using (media_id)' : ''
      const [row] = await db.query<{ count: string }>(`select count(*) as count from video v ${media} where ${where.join(' and ')}`, values)
      return Number(row?.count ?? 0)
    },
  }
}

/** The place in a list: the row after which it goes on. */
interface Place {
  sort: Date | string
  id: string
}

const SORT = {
  create_time: { column: 'v.create_time', type: 'timestamptz' },
  title: { column: 'lower(v.title)', type: 'text' },
} as const

/** Everything in the text is a constant of this file; what callers say goes into the values. */
function pageStatement(listing: VideoListing, after: Place | undefined, limit: number, skip: number) {
  const { where, values } = filters(listing)
  const { column, type } = SORT[listing.order]
  if (after) {
    values.push(after.sort, after.id)
    const [sort, id] = [values.length - 1, values.length]
    where.push(`(${column}, v.video_id) ${listing.descending ? '<' : '>'} ($${sort}::${type}, $${id}::bigint)`)
  }
  values.push(limit, skip)
  const direction = listing.descending ? 'desc' : 'asc'
  const text = `${SELECT_VIDEO} where ${where.join(' and ')}
    order by ${column} ${direction}, v.video_id ${direction} limit $${values.length - 1} offset $${values.length}`
  return { text, values }
}

function filters({ scope, state, tag }: VideoListing): { where: string[]; values: unknown[] } {
  const where = ['true']
  const values: unknown[] = []
  const add = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value)
    where.push(condition(`$${values.length}`))
  }
  if (scope !== null) add((p) => `v.organisation_id = ${p}`, scope)
  if (tag !== undefined) add((p) => `v.tags @> array[${p}::text]`, tag)
  if (state !== undefined) add((p) => `m.state = ${p}`, state)
  return { where, values }
}

function writeToken({ order, descending }: VideoListing, { sort, id }: Place): string {
  return encodePageToken([order, String(descending), sort instanceof Date ? String(sort.getTime()) : sort, id])
}

function readToken({ order, descending }: VideoListing, token: string): Place | undefined {
  const values = decodePageToken(token, 4)
  if (!values) return undefined
  const [ofOrder, ofDirection, sort = '', id = ''] = values
  const good =
    ofOrder === order &&
    ofDirection === String(descending) &&
    parseId(id) !== undefined &&
    (order === 'title' ? checkText('', sort, { max: 1_000 }).length === 0 : /^\d{1,15}$/.test(sort))
  if (!good) throw invalid([{ field: 'page_token', message: 'is not one that this list answered' }])
  return { sort: order === 'title' ? sort : new Date(Number(sort)), id }
}
