import { notFound, requireValid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { requireUser, scopeOf } from '@vitascope/principal'
import { Playlist as Message, type PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Video as VideoMessage } from '@vitascope/proto/catalogue/v1/video'
import { checkPage, isId, pageSizeOf } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { onlyPublic } from '../video/video.ts'
import { toMessage as toVideoMessage } from '../video/video-message.ts'
import { appendVideo, defaultPlaylist, MAX_VIDEOS, type Playlist, removeVideo } from './playlist.ts'
import { checkPlaylist, mergePlaylist } from './playlist-mask.ts'
import type { FoundPlaylist, PlaylistKey, PlaylistStore } from './playlist-store.ts'

const PAGE_DEFAULT = 50
/** A page costs about 6,000 primary key lookups of videos. */
const MAX_PAGE_SIZE = 250
const MESSAGE_BYTES = 3 * 1024 * 1024

export function playlistHandlers(playlists: PlaylistStore, organisations: Organisations): Handlers<typeof PlaylistServiceService> {
  return {
    async createPlaylist({ organisationId: requestedId, title, description }, call) {
      const { userId } = requireUser(call.principal)
      const fields = defaultPlaylist(title, description)
      requireValid(checkPlaylist(fields))
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      return playlists.create({ organisationId, userId, fields }, call)
    },
    async getPlaylist({ playlistId, skip }, { principal, signal }) {
      const found = await playlists.find(keyOf(principal, playlistId), signal)
      if (!found) throw notFound('playlist', playlistId)
      return toResponse(found, skip)
    },
    async findPublicPlaylist({ playlistId, skip }, { signal }) {
      const found = isId(playlistId) ? await playlists.find({ scope: null, playlistId }, signal) : undefined
      if (!found?.organisationActive) throw notFound('playlist', playlistId)
      return toResponse({ ...found, videos: onlyPublic(found.videos, new Date()) }, skip)
    },
    async listPlaylists({ organisationId: requestedId, pageSize, pageToken: token, skip }, { principal, signal }) {
      const size = pageSizeOf({ pageSize, skip }, MAX_PAGE_SIZE, PAGE_DEFAULT)
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      const messageSize = (playlist: Playlist) => Message.encode(toMessage(playlist)).finish().length
      const page = await playlists.list({ organisationId, size, token, skip, messageSize }, signal)
      return { playlists: page.playlists.map(toMessage), nextPageToken: page.nextPageToken }
    },
    async updatePlaylist({ playlist: given, updateMask = [] }, { principal, signal }) {
      const key = keyOf(principal, given?.playlistId ?? '')
      if (!given) throw notFound('playlist', '')
      // Checks the number of videos before they are looked up. The other fields are checked under
      // the lock.
      if (given.videoIds.length > MAX_VIDEOS) requireValid(checkPlaylist({ ...defaultPlaylist('', ''), videoIds: given.videoIds }))
      const videoIds = updateMask.includes('video_ids') ? given.videoIds : []
      return { playlist: toMessage(await playlists.update(key, videoIds, (now) => mergePlaylist(now, given, updateMask), signal)) }
    },
    async addVideoToPlaylist({ playlistId, videoId }, { principal, signal }) {
      const changed = await playlists.update(keyOf(principal, playlistId), [videoId], (now) => appendVideo(now, videoId), signal)
      return { videoIds: [...changed.videoIds] }
    },
    async removeVideoFromPlaylist({ playlistId, videoId, position }, { principal, signal }) {
      const key = keyOf(principal, playlistId)
      const isPositionValid = position === undefined || (position >= 0 && position < MAX_VIDEOS)
      requireValid(isPositionValid ? [] : [{ field: 'position', message: `must be from 0 to ${MAX_VIDEOS - 1}` }])
      const changed = await playlists.update(key, [videoId], (now) => removeVideo(now, videoId, position), signal)
      return { videoIds: [...changed.videoIds] }
    },
  }
}

/**
 * Returns the playlist as its visible videos determine it, and as many of the videos from `skip` on
 * as fit into one message.
 */
function toResponse({ playlist, videos }: Pick<FoundPlaylist, 'playlist' | 'videos'>, skip: number) {
  requireValid(checkPage({ pageSize: 0, skip }))
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
  if (!isId(playlistId)) throw notFound('playlist', playlistId)
  return { scope, playlistId }
}
