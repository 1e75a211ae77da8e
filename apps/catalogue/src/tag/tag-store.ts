import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'
import { checkText, decodePageToken, encodePageToken, invalidPageToken, isId, type TokenPage } from '@vitascope/request'
import { lockVideo, type VideoKey } from '../publishing/media/video-lock.ts'
import { readTimeToken, writeTimeToken } from '../rules/time-token.ts'

export interface TagCount {
  tag: string
  videos: number
}

export interface TagStore {
  /** Returns the tags of an organisation's videos, most used first. */
  list(organisationId: string, page: TokenPage, signal?: AbortSignal): Promise<{ tags: TagCount[]; nextPageToken: string }>
  /** Returns the ids of videos that have all tags, or one of the tags if `any` is true. The oldest videos come first. */
  videos(
    filter: { organisationId: string; tags: readonly string[]; any: boolean },
    page: TokenPage,
    signal?: AbortSignal,
  ): Promise<{ videoIds: string[]; nextPageToken: string }>
  /** Locks the video and stores the tags that `change` returns. Returns the changed tags. Throws VIDEO_NOT_FOUND. */
  change(
    key: VideoKey,
    byUserId: string,
    change: (current: readonly string[]) => { tags: string[]; changed: string[] },
    call: Pick<Call, 'idempotency' | 'signal'>,
  ): Promise<string[]>
}

export function createTagStore(db: Db): TagStore {
  return {
    async list(organisationId, { size, token, skip }, signal) {
      signal?.throwIfAborted()
      const after = readCountToken(token)
      const rows = await db.query<{ tag: string; videos: string }>(
        `select tag, videos from tag_count
         where organisation_id = $1 and ($2::bigint is null or videos <= $2 and (videos < $2 or tag > $3))
         order by videos desc, tag limit $4 offset $5`,
        [organisationId, after?.videos ?? null, after?.tag ?? null, size + 1, skip],
      )
      const last = rows.length > size ? rows[size - 1] : undefined
      return {
        tags: rows.slice(0, size).map(({ tag, videos }) => ({ tag, videos: Number(videos) })),
        nextPageToken: last ? encodePageToken([last.videos, last.tag]) : '',
      }
    },
    async videos({ organisationId, tags, any }, { size, token, skip }, signal) {
      signal?.throwIfAborted()
      const after = readTimeToken(token)
      const rows = await db.query<{ video_id: string; create_time: Date }>(any ? FIND_WITH_ANY_TAG : FIND_WITH_ALL_TAGS, [
        organisationId,
        tags,
        after.createTime,
        after.id,
        size + 1,
        skip,
      ])
      const last = rows.length > size ? rows[size - 1] : undefined
      return {
        videoIds: rows.slice(0, size).map((row) => row.video_id),
        nextPageToken: last ? writeTimeToken({ createTime: last.create_time, id: last.video_id }) : '',
      }
    },
    change: (key, byUserId, change, call) =>
      withIdempotency(db, call, jsonCodec<string[]>(), async (tx) => {
        const { videoId, tags: current } = await lockVideo(tx, key)
        const { tags, changed } = change(current)
        if (changed.length === 0) return []
        await tx.query('update video set tags = $2, last_modified_by_id = $3, update_time = clock_timestamp() where video_id = $1', [
          videoId,
          tags,
          byUserId,
        ])
        return changed
      }),
  }
}

/** For each tag, the statement reads only the index rows that the page can contain. */
const FIND_WITH_ANY_TAG = `
  select distinct f.create_time, f.video_id from unnest($2::text[]) as requested (tag) cross join lateral (
    select t.create_time, t.video_id from video_tag t
    where t.organisation_id = $1 and t.tag = requested.tag and (t.create_time, t.video_id) > ($3::timestamptz, $4::bigint)
    order by t.create_time, t.video_id limit $5::int + $6::int
  ) f order by f.create_time, f.video_id limit $5::int offset $6::int`

/** The statement scans the videos of the rarest tag and looks up the other tags. */
const FIND_WITH_ALL_TAGS = `
  select t.create_time, t.video_id from video_tag t
  where t.organisation_id = $1 and (t.create_time, t.video_id) > ($3::timestamptz, $4::bigint)
    and t.tag = (
      select requested.tag from unnest($2::text[]) as requested (tag)
      left join tag_count c on c.organisation_id = $1 and c.tag = requested.tag order by coalesce(c.videos, 0), requested.tag limit 1
    )
    and not exists (
      select from unnest($2::text[]) as requested (tag) where requested.tag <> t.tag and not exists (
        select from video_tag o where o.organisation_id = $1 and o.tag = requested.tag and o.create_time = t.create_time
          and o.video_id = t.video_id
      )
    )
  order by t.create_time, t.video_id limit $5 offset $6`

function readCountToken(token: string): { videos: string; tag: string } | undefined {
  const values = decodePageToken(token, 2)
  if (!values) return undefined
  const [videos = '', tag = ''] = values
  if (!isId(videos) || checkText('', tag, { max: 100 }).length > 0) throw invalidPageToken()
  return { videos, tag }
}
