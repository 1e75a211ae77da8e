import { type FieldError, invalid, notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { Playlist as Message, type PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Video as VideoMessage } from '@vitascope/proto/catalogue/v1/video'
import { parseId } from '../id/id.ts'
import type { Organisations } from '../organisation-mirror/organisation.ts'
import { onlyPublic } from '../video/video.ts'
import { toMessage as toVideoMessage } from '../video/video-message.ts'
import { organisationFor, requireUser, scopeOf } from '../visibility.ts'
import { append, MOST_VIDEOS, type Playlist, plainPlaylist, take } from './playlist.ts'
import { checkPlaylist, mergePlaylist } from './playlist-mask.ts'
import type { FoundPlaylist, PlaylistKey, PlaylistStore } from './playlist-store.ts'

const PAGE_DEFAULT = 50
/** Some 6,000 look-ups of videos by primary key. */
const PAGE_MOST = 250
const MESSAGE_BYTES = 3 * 1024 * 1024

export function playlistHandlers(playlists: PlaylistStore, organisations: Organisations): Handlers<typeof PlaylistServiceService> {
  return {
    async createPlaylist({ organisationId: named, title, description }, call) {
      const { userId } = requireUser(call.principal)
      const fields = plainPlaylist(title, description)
      refuseBad(checkPlaylist(fields))
      const organisationId = await needOrganisation(organisations, call.principal, named, call.signal)
      return playlists.create({ organisationId, userId, fields }, call)
    },
    async getPlaylist({ playlistId, skip }, { principal, signal }) {
      const found = await playlists.find(keyOf(principal, playlistId), signal)
      if (!found) throw notFound('playlist', playlistId)
      return answer(found, skip)
    },
    async findPublicPlaylist({ playlistId, skip }, { signal }) {
      const found = parseId(playlistId) ? await playlists.find({ scope: null, playlistId }, signal) : undefined
      if (!found?.organisationActive) throw notFound('playlist', playlistId)
      return answer({ ...found, videos: onlyPublic(found.videos, new Date()) }, skip)
    },
    async listPlaylists({ organisationId: named, pageSize, pageToken: token, skip }, { principal, signal }) {
      refuseBad([
        ...(skip < 0 ? [{ field: 'start', message: 'must not be negative' }] : []),
        ...(pageSize < 0 ? [{ field: 'limit', message: 'must not be negative' }] : []),
      ])
      const organisationId = await needOrganisation(organisations, principal, named, signal)
      const size = pageSize === 0 ? PAGE_DEFAULT : Math.min(pageSize, PAGE_MOST)
      const weigh = (playlist: Playlist) => Message.encode(toMessage(playlist)).finish().length
      const page = await playlists.list({ organisationId, size, token, skip, weigh }, signal)
      return { playlists: page.playlists.map(toMessage), nextPageToken: page.nextPageToken }
    },
    async updatePlaylist({ playlist: given, updateMask = [] }, { principal, signal }) {
      const key = keyOf(principal, given?.playlistId ?? '')
      if (!given) throw notFound('playlist', '')
      // Bounded before they are looked up; merged under the lock.
      if (given.videoIds.length > MOST_VIDEOS) refuseBad(checkPlaylist({ ...plainPlaylist('', ''), videoIds: given.videoIds }))
      const named = updateMask.includes('video_ids') ? given.videoIds : []
      return { playlist: toMessage(await playlists.update(key, named, (now) => mergePlaylist(now, given, updateMask), signal)) }
    },
    async addVideoToPlaylist({ playlistId, videoId }, { principal, signal }) {
      const changed = await playlists.update(keyOf(principal, playlistId), [videoId], (now) => append(now, videoId), signal)
      return { videoIds: [...changed.videoIds] }
    },
    async removeVideoFromPlaylist({ playlistId, videoId, position }, { principal, signal }) {
      const key = keyOf(principal, playlistId)
      const isPlace = position === undefined || (position >= 0 && position < MOST_VIDEOS)
      refuseBad(isPlace ? [] : [{ field: 'position', message: `must be from 0 to ${MOST_VIDEOS - 1}` }])
      const changed = await playlists.update(key, [videoId], (now) => take(now, videoId, position), signal)
      return { videoIds: [...changed.videoIds] }
    },
  }
}

/** The playlist as its videos show it, and of these as many from `skip` on as a message holds. */
function answer({ playlist, videos }: Pick<FoundPlaylist, 'playlist' | 'videos'>, skip: number) {
  refuseBad(skip < 0 ? [{ field: 'skip', message: 'must not be negative' }] : [])
  const shown = { ...playlist, videoIds: videos.map(({ videoId }) => videoId), ipRestricted: videos.some((video) => video.ipRestricted) }
  const messages: VideoMessage[] = []
  let bytes = Message.encode(toMessage(shown)).finish().length
  for (const message of videos.slice(skip).map(toVideoMessage)) {
    bytes += VideoMessage.encode(message).finish().length
    if (bytes > MESSAGE_BYTES && messages.length > 0) break
    messages.push(message)
  }
  const end = skip + messages.length
  return { playlist: toMessage(shown), videos: messages, nextSkip: end < videos.length ? end : 0 }
}

function toMessage(playlist: Playlist): Message {
  return { ...playlist, videoIds: [...playlist.videoIds] }
}

function keyOf(principal: Principal, playlistId: string): PlaylistKey {
  const scope = scopeOf(principal)
  if (!parseId(playlistId)) throw notFound('playlist', playlistId)
  return { scope, playlistId }
}

async function needOrganisation(organisations: Organisations, principal: Principal, named: string, signal: AbortSignal): Promise<string> {
  const organisationId = organisationFor(principal, named)
  if (organisationId === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  if (!parseId(organisationId)) throw notFound('organisation', organisationId)
  await organisations.need(organisationId, signal)
  return organisationId
}

function refuseBad(problems: FieldError[]): void {
  if (problems.length > 0) throw invalid(problems)
}
