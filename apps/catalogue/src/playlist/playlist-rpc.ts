import { notFound, requireValid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { getScope, requireUser } from '@vitascope/principal'
import { Playlist as Message, type PlaylistServiceService } from '@vitascope/proto/catalogue/v1/playlist'
import { Video as VideoMessage } from '@vitascope/proto/catalogue/v1/video'
import { checkPage, isId, requireUnchanged, toTokenPage } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { maxMessageSize } from '../rules/message-size.ts'
import { filterListed } from '../video/video.ts'
import { toMessage as toVideoMessage } from '../video/video-message.ts'
import { appendVideo, createDefaultFields, MAX_VIDEOS, type Playlist, removeVideo } from './playlist.ts'
import { checkPlaylist, mergePlaylist } from './playlist-mask.ts'
import type { PlaylistKey, PlaylistStore, PlaylistWithVideos } from './playlist-store.ts'

const DEFAULT_PAGE_SIZE = 50
/** Maximum page size. Each playlist needs up to 25 lookups of videos. */
const MAX_PAGE_SIZE = 250
const MESSAGE_BYTES = 3 * 1024 * 1024

export function playlistHandlers(playlists: PlaylistStore, organisations: Organisations): Handlers<typeof PlaylistServiceService> {
  return {
    async createPlaylist({ organisationId: requestedId, title, description }, call) {
      const { userId } = requireUser(call.principal)
      const fields = createDefaultFields(title, description)
      requireValid(checkPlaylist(fields))
      const organisationId = await requireOrganisation(organisations, call.principal, requestedId, call.signal)
      return playlists.create({ organisationId, userId, fields }, call)
    },
    async getPlaylist({ playlistId, skip }, { principal, signal }) {
      const stored = await playlists.find(toKey(principal, playlistId), signal)
      if (!stored) throw notFound('playlist', playlistId)
      return toResponse(stored, skip)
    },
    async findPublicPlaylist({ playlistId, skip }, { signal }) {
      const stored = isId(playlistId) ? await playlists.find({ scope: null, playlistId }, signal) : undefined
      if (!stored?.organisationActive) throw notFound('playlist', playlistId)
      return toResponse({ ...stored, videos: filterListed(stored.videos, new Date()) }, skip)
    },
    async listPlaylists({ organisationId: requestedId, ...request }, { principal, signal }) {
      const tokenPage = toTokenPage(request, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE)
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      const page = await playlists.list({ organisationId, ...tokenPage, messageSize: maxMessageSize }, signal)
      return { playlists: page.playlists.map(toMessage), nextPageToken: page.nextPageToken }
    },
    async updatePlaylist({ playlist: input, updateMask = [] }, call) {
      const { principal, signal } = call
      const key = toKey(principal, input?.playlistId ?? '')
      if (!input) throw notFound('playlist', '')
      // Checks the number of videos before they are looked up. The other fields are checked under
      // the lock.
      if (input.videoIds.length > MAX_VIDEOS) requireValid(checkPlaylist({ ...createDefaultFields('', ''), videoIds: input.videoIds }))
      const videoIds = updateMask.includes('video_ids') ? input.videoIds : []
      const change = (current: Playlist) => {
        requireUnchanged(call, current.updateTime)
        return mergePlaylist(current, input, updateMask)
      }
      return { playlist: toMessage(await playlists.update(key, videoIds, change, signal)) }
    },
    async addVideoToPlaylist({ playlistId, videoId }, { principal, signal }) {
      const updated = await playlists.update(toKey(principal, playlistId), [videoId], (current) => appendVideo(current, videoId), signal)
      return { videoIds: [...updated.videoIds] }
    },
    async removeVideoFromPlaylist({ playlistId, videoId, position }, { principal, signal }) {
      const key = toKey(principal, playlistId)
      const isPositionValid = position === undefined || (position >= 0 && position < MAX_VIDEOS)
      requireValid(isPositionValid ? [] : [{ field: 'position', message: `must be from 0 to ${MAX_VIDEOS - 1}` }])
      const updated = await playlists.update(key, [videoId], (current) => removeVideo(current, videoId, position), signal)
      return { videoIds: [...updated.videoIds] }
    },
  }
}

/**
 * Returns the playlist with the ids of its visible videos, and the videos from `skip` on that fit into
 * one message.
 */
function toResponse({ playlist, videos }: Pick<PlaylistWithVideos, 'playlist' | 'videos'>, skip: number) {
  requireValid(checkPage({ pageSize: 0, skip }))
  const visiblePlaylist = {
    ...playlist,
    videoIds: videos.map(({ videoId }) => videoId),
    ipRestricted: videos.some((video) => video.ipRestricted),
  }
  const messages: VideoMessage[] = []
  let bytes = Message.encode(toMessage(visiblePlaylist)).finish().length
  for (const message of videos.slice(skip).map(toVideoMessage)) {
    bytes += VideoMessage.encode(message).finish().length
    if (bytes > MESSAGE_BYTES && messages.length > 0) break
    messages.push(message)
  }
  const end = skip + messages.length
  return { playlist: toMessage(visiblePlaylist), videos: messages, nextSkip: end < videos.length ? end : 0 }
}

function toMessage(playlist: Playlist): Message {
  return { ...playlist, videoIds: [...playlist.videoIds] }
}

function toKey(principal: Principal, playlistId: string): PlaylistKey {
  const scope = getScope(principal)
  if (!isId(playlistId)) throw notFound('playlist', playlistId)
  return { scope, playlistId }
}
