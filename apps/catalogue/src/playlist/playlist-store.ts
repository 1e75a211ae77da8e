import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId, type TokenPage } from '@vitascope/request'
import { newRandomId } from '../rules/id.ts'
import { readTimeToken, writeTimeToken } from '../rules/time-token.ts'
import type { Video } from '../video/video.ts'
import { SELECT_VIDEO, toVideo, type VideoRow } from '../video/video-row.ts'
import type { Playlist, PlaylistFields } from './playlist.ts'
import { PLAYLIST_COLUMNS, PLAYLIST_PARAMETERS, type PlaylistRow, playlistValues, SELECT_PLAYLIST, toPlaylist } from './playlist-row.ts'

export interface PlaylistKey {
  scope: Scope
  playlistId: string
}

export interface NewPlaylist {
  organisationId: string
  userId: string
  fields: PlaylistFields
}

export interface PlaylistStore {
  /** Stores an empty playlist. Calls with the same idempotency key store one playlist. */
  create(playlist: NewPlaylist, call: Pick<Call, 'idempotency' | 'signal'>): Promise<{ playlistId: string }>
  /** Returns the playlist with its videos in order, or undefined. */
  find(key: PlaylistKey, signal?: AbortSignal): Promise<PlaylistWithVideos | undefined>
  list(request: PlaylistPageRequest, signal?: AbortSignal): Promise<{ playlists: Playlist[]; nextPageToken: string }>
  /**
   * Locks the playlist and stores what `change` returns. `requestedVideoIds` are the videos in the
   * request. Throws VIDEO_NOT_FOUND before `change` runs if one of them does not exist in the
   * organisation of the playlist.
   */
  update(
    key: PlaylistKey,
    requestedVideoIds: readonly string[],
    change: (current: Playlist) => Playlist,
    signal?: AbortSignal,
  ): Promise<Playlist>
}

export interface PlaylistWithVideos {
  playlist: Playlist
  organisationActive: boolean
  videos: Video[]
}

export interface PlaylistPageRequest extends TokenPage {
  organisationId: string
  /** Returns the size of a playlist in a message. A page ends early if the sum exceeds `PAGE_BYTES`. */
  messageSize: (playlist: Playlist) => number
}

const PAGE_BYTES = 3 * 1024 * 1024
const MAX_ID_ATTEMPTS = 3
const FIND = `${SELECT_PLAYLIST} where l.playlist_id = $1 and ($2::bigint is null or l.organisation_id = $2)`

export function createPlaylistStore(db: Db, newId: () => string = newRandomId): PlaylistStore {
  return {
    create: ({ organisationId, userId, fields }, call) =>
      withIdempotency(db, call, jsonCodec<{ playlistId: string }>(), async (tx) => {
        // Player pages and embed codes take the id of a video or a playlist, so no playlist has the id of a video.
        for (let attempt = 1; attempt <= MAX_ID_ATTEMPTS; attempt++) {
          const [row] = await tx.query<{ playlist_id: string }>(
            `insert into playlist (${PLAYLIST_COLUMNS}, playlist_id, organisation_id, created_by_user_id)
             select ${PLAYLIST_PARAMETERS}, $10, $11, $12 where not exists (select from video where video_id = $10)
             on conflict do nothing returning playlist_id`,
            [...playlistValues(fields), newId(), organisationId, userId],
          )
          if (row) return { playlistId: row.playlist_id }
        }
        throw new Error(`${MAX_ID_ATTEMPTS} random ids were all in use`)
      }),
    async find({ scope, playlistId }, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<PlaylistRow>(FIND, [playlistId, scope])
      if (!row) return undefined
      signal?.throwIfAborted()
      const videos = await db.query<VideoRow>(
        `${SELECT_VIDEO} join playlist_video p on p.video_id = v.video_id where p.playlist_id = $1 order by p.position`,
        [playlistId],
      )
      return { playlist: toPlaylist(row), organisationActive: row.organisation_active, videos: videos.map(toVideo) }
    },
    async list({ organisationId, size, token, skip, messageSize }, signal) {
      signal?.throwIfAborted()
      const after = readTimeToken(token)
      const rows = await db.query<PlaylistRow>(
        `${SELECT_PLAYLIST} where l.organisation_id = $1 and (l.create_time, l.playlist_id) > ($2::timestamptz, $3::bigint)
         order by l.create_time, l.playlist_id limit $4 offset $5`,
        [organisationId, after.createTime, after.id, size + 1, skip],
      )
      const playlists = rows.slice(0, size).map(toPlaylist)
      const pagePlaylists = takeFirstThatFit(playlists, messageSize)
      const last = pagePlaylists.at(-1)
      const hasMore = pagePlaylists.length < rows.length
      return {
        playlists: pagePlaylists,
        nextPageToken: last && hasMore ? writeTimeToken({ createTime: last.createTime, id: last.playlistId }) : '',
      }
    },
    update: (key, requestedVideoIds, change, signal) =>
      db.transaction(async (tx) => {
        const before = await lockPlaylist(tx, key)
        const videos = await lockVideos(tx, before.organisationId, [...before.videoIds, ...requestedVideoIds])
        const missingId = requestedVideoIds.find((videoId) => !videos.has(videoId))
        if (missingId !== undefined) throw notFound('video', missingId)
        const after = change({ ...before, videoIds: before.videoIds.filter((videoId) => videos.has(videoId)) })
        await tx.query(
          `update playlist set (${PLAYLIST_COLUMNS}) = (${PLAYLIST_PARAMETERS}), update_time = clock_timestamp() where playlist_id = $10`,
          [...playlistValues(after), before.playlistId],
        )
        await storeOrder(tx, before.playlistId, after.videoIds)
        return readPlaylist(tx, key)
      }, signal),
  }
}

/** Returns the first playlists that fit into one message, at least one. */
function takeFirstThatFit(playlists: Playlist[], messageSize: (playlist: Playlist) => number): Playlist[] {
  let bytes = 0
  const end = playlists.findIndex((playlist, index) => {
    bytes += messageSize(playlist)
    return bytes > PAGE_BYTES && index > 0
  })
  return end === -1 ? playlists : playlists.slice(0, end)
}

async function lockPlaylist(tx: Transaction, key: PlaylistKey): Promise<Playlist> {
  const { scope, playlistId } = key
  const rows = await tx.query('select from playlist where playlist_id = $1 and ($2::bigint is null or organisation_id = $2) for update', [
    playlistId,
    scope,
  ])
  if (rows.length === 0) throw notFound('playlist', playlistId)
  // This is a separate statement, so that it sees changes that were committed while the first one
  // waited for the lock.
  return readPlaylist(tx, key)
}

async function readPlaylist(tx: Transaction, { scope, playlistId }: PlaylistKey): Promise<Playlist> {
  const [row] = await tx.query<PlaylistRow>(FIND, [playlistId, scope])
  if (!row) throw notFound('playlist', playlistId)
  return toPlaylist(row)
}

/**
 * Locks the videos that belong to the organisation, and returns their ids. They cannot be deleted until
 * the transaction ends.
 */
async function lockVideos(tx: Transaction, organisationId: string, videoIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ video_id: string }>(
    'select video_id from video where video_id = any($1::bigint[]) and organisation_id = $2 order by video_id for key share',
    [[...new Set(videoIds)].filter(isId), organisationId],
  )
  return new Set(rows.map((row) => row.video_id))
}

async function storeOrder(tx: Transaction, playlistId: string, videoIds: readonly string[]): Promise<void> {
  await tx.query('delete from playlist_video where playlist_id = $1', [playlistId])
  await tx.query(
    `insert into playlist_video (playlist_id, position, video_id)
     select $1, position - 1, video_id from unnest($2::bigint[]) with ordinality as list (video_id, position)`,
    [playlistId, videoIds],
  )
}
