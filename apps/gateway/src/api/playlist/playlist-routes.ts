import { invalid, isDomainError } from '@vitascope/errors'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { field } from '../../server/schema/field.ts'
import { flag, id, idField, int, jsonObject, list, text } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { requestedOrganisation } from '../shared/resolve-organisation.ts'
import { guestVideoResponse, ownVideoResponse } from '../video/video-response.ts'
import { FEED_TYPE, playlistFeed } from './playlist-feed.ts'
import {
  PlaylistEntryResponse,
  PlaylistOrderResponse,
  PlaylistResponse,
  playlistEntryResponse,
  playlistOrderResponse,
  playlistResponse,
} from './playlist-response.ts'

const MAX_VIDEOS = 25
const title = text(255, {}, { description: 'Title that viewers see.', example: 'Launches' })
const description = text(5_000, {}, { description: 'Description that viewers see.' })

export const getPlaylist = route({
  get: ['/playlist/:playlistId'],
  operationId: 'getPlaylist',
  section: 'Playlists',
  access: 'public',
  summary: 'Read a playlist with its videos',
  description:
    'Returns a playlist. Keys of its organisation and system keys see all videos. Other callers see only videos that are public, enabled and not expired. ' +
    'The playlist page is `/player/{playlist_id}`.',
  params: z.object({ playlistId: id('playlist') }),
  response: PlaylistResponse,
  async handle({ params }, context) {
    const { playlist, videos, toResponse } = await findPlaylist(params.playlistId, context)
    const records = videos.map((video) => toResponse(video, context))
    return new Reply(playlistResponse(playlist, records), { updateTime: playlist.updateTime })
  },
})

const changes = z.strictObject({
  playlist_type: text(50, { min: 1 }, { description: 'Type of the playlist. Free text.', example: 'standard' }).optional(),
  title: title.optional(),
  description: description.optional(),
  monetization_url: text(2_048, {}, { description: 'http or https URL. `""` means none.' })
    .refine(isWebAddress, 'must be a URL that starts with http:// or https://')
    .optional(),
  randomise: flag({ description: '`1` plays the videos in random order.' }).optional(),
  video_limit: int({ min: 0, max: MAX_VIDEOS }, { description: 'Number of videos that the player plays. 0 means all.' }).optional(),
  open_in_playlist_view: flag({ description: '`1` shows the list next to the video from the start.' }).optional(),
  settings: text(10_000, {}, { description: 'Setting for players. The platform only stores it.' }).optional(),
  monetization: jsonObject(10_000, { description: 'Setting for players. The platform only stores it.' }).optional(),
  videos: list(
    // A client can send back a playlist as it was read, with records instead of ids.
    field(
      (video) => (typeof video === 'object' && video !== null && 'video_id' in video ? video.video_id : video),
      idField('video. It must belong to the same organisation'),
    ),
    { max: MAX_VIDEOS, clearable: true },
    { description: 'All videos in order, as ids or as records with a `video_id`. A video may be repeated.' },
  ).optional(),
})

/** Catalogue names of fields with another public name. */
const maskNames: Readonly<Record<string, string>> = { monetization: 'monetization_json', videos: 'video_ids' }

export const updatePlaylist = route({
  put: ['/playlist/:playlistId'],
  operationId: 'updatePlaylist',
  section: 'Playlists',
  access: 'user',
  summary: 'Change a playlist',
  description: 'Changes only the fields that are sent.',
  params: z.object({ playlistId: id('playlist') }),
  payload: changes,
  record: PlaylistResponse,
  isConditional: true,
  docs: { example: { title: 'Launches', videos: ['42', '61'] } },
  response: z.object({ status: z.literal(true) }),
  publicNames: { monetization_json: 'monetization', video_ids: 'videos' },
  async handle({ params, payload }, { services, call }) {
    const sentNames = Object.keys(payload)
    if (sentNames.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
    const playlist = Playlist.create({
      playlistId: params.playlistId,
      playlistType: payload.playlist_type ?? '',
      title: payload.title ?? '',
      description: payload.description ?? '',
      monetizationUrl: payload.monetization_url ?? '',
      randomise: payload.randomise ?? false,
      videoLimit: payload.video_limit ?? 0,
      openInPlaylistView: payload.open_in_playlist_view ?? false,
      settings: payload.settings ?? '',
      monetizationJson: payload.monetization ?? '',
      videoIds: payload.videos ?? [],
    })
    const updateMask = sentNames.map((name) => maskNames[name] ?? name)
    await services.playlists.updatePlaylist({ playlist, updateMask }, call)
    return { status: true as const }
  },
})

export const createPlaylist = route({
  post: ['/playlist/create/:organisationId'],
  operationId: 'createPlaylist',
  aliases: [{ verb: 'put', path: '/playlist/create/:organisationId' }],
  section: 'Playlists',
  access: 'user',
  summary: 'Create an empty playlist',
  description: 'Creates a playlist without videos. Add videos with `PUT /playlist/{playlist_id}` or one at a time.',
  params: z.object({ organisationId: id('organisation') }),
  payload: z.strictObject({ title: title.default(''), description: description.default('') }),
  payloadOptional: true,
  docs: { example: { title: 'Launches' } },
  response: z.object({ id: schema.id('playlist'), playlist_id: schema.id('playlist') }),
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { playlistId } = await services.playlists.createPlaylist({ organisationId, ...payload }, call)
    return { id: playlistId, playlist_id: playlistId }
  },
})

const entry = z.object({ playlistId: id('playlist'), videoId: id('video') })

export const addVideo = route({
  put: ['/playlist/:playlistId/add/video/:videoId'],
  operationId: 'addVideoToPlaylist',
  section: 'Playlists',
  access: 'user',
  summary: 'Append a video to a playlist',
  description: 'Adds the video at the end. A playlist may contain a video more than once.',
  params: entry,
  response: z.object({ status: z.object({ added: schema.id('video') }), videos: PlaylistOrderResponse }),
  errorCodes: { playlist_full: `The playlist already has ${MAX_VIDEOS} videos.` },
  async handle({ params }, { services, call }) {
    const { videoIds } = await services.playlists.addVideoToPlaylist(params, call)
    return { status: { added: params.videoId }, videos: playlistOrderResponse(videoIds) }
  },
})

export const removeVideo = route({
  delete: ['/playlist/:playlistId/remove/video/:videoId'],
  operationId: 'removeVideoFromPlaylist',
  aliases: [{ verb: 'put', path: '/playlist/:playlistId/remove/video/:videoId' }],
  section: 'Playlists',
  access: 'user',
  summary: 'Remove a video from a playlist',
  description:
    'Removes every occurrence of the video, or only the one at `position`. If the list does not contain the video, it is not changed. The ' +
    'response contains the list.',
  params: entry,
  query: z.object({
    position: int(
      { min: 0, max: MAX_VIDEOS - 1 },
      { description: 'Position in the list, from 0. Only an occurrence at this position is removed.' },
    ).optional(),
  }),
  response: z.object({ status: z.object({ tried_to_remove: schema.id('video') }), videos: PlaylistOrderResponse }),
  async handle({ params, query }, { services, call }) {
    const { videoIds } = await services.playlists.removeVideoFromPlaylist({ ...params, position: query.position }, call)
    return { status: { tried_to_remove: params.videoId }, videos: playlistOrderResponse(videoIds) }
  },
})

export const listPlaylists = route({
  get: ['/playlist/organisation/:organisationId'],
  operationId: 'listPlaylists',
  section: 'Playlists',
  access: 'user',
  summary: 'List the playlists of an organisation',
  description: 'Returns the playlists without their videos, oldest first.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  response: z.array(PlaylistEntryResponse),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = requestedOrganisation(caller, params.organisationId)
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 250 }, async (page) => {
      const { playlists, nextPageToken } = await services.playlists.listPlaylists({ organisationId, ...page }, call)
      return { rows: playlists, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/playlist/organisation/${organisationId}`, { ...query, nextCursor })
    return new Reply(rows.map(playlistEntryResponse), { headers })
  },
})

export const getPlaylistFeed = route({
  get: ['/playlist/rss/:playlistId'],
  operationId: 'getPlaylistFeed',
  section: 'Playlists',
  access: 'user',
  summary: 'Read a playlist as an RSS feed',
  description: 'Returns RSS 2.0 with Media RSS. The feed contains only videos that guests may see, because feeds are often shared.',
  params: z.object({ playlistId: id('playlist') }),
  response: z.string(),
  contentTypes: [FEED_TYPE],
  async handle({ params }, { services, call, publicUrl, mediaUrl }) {
    const { playlistId } = params
    await services.playlists.getPlaylist({ playlistId, skip: 0 }, call)
    const { playlist, videos } = await readAllParts((skip) => services.playlists.findPublicPlaylist({ playlistId, skip }, call))
    return new Reply(playlistFeed(playlist, videos, { publicUrl, mediaUrl }), {
      headers: { 'Content-Type': `${FEED_TYPE}; charset=utf-8` },
    })
  },
})

export const playlistRoutes = [getPlaylist, updatePlaylist, createPlaylist, addVideo, removeVideo, listPlaylists, getPlaylistFeed]

/**
 * Returns a playlist with its videos. Keys of its organisation and system keys receive all videos
 * with all fields. Other callers receive the public videos with their public fields.
 */
async function findPlaylist(playlistId: string, { caller, services, call }: Context) {
  const ownPlaylist = caller.kind === 'guest' ? undefined : await getOwnPlaylist()
  if (ownPlaylist) return { ...ownPlaylist, toResponse: ownVideoResponse }
  const publicPlaylist = await readAllParts((skip) => services.playlists.findPublicPlaylist({ playlistId, skip }, call))
  return { ...publicPlaylist, toResponse: guestVideoResponse }

  async function getOwnPlaylist() {
    try {
      return await readAllParts((skip) => services.playlists.getPlaylist({ playlistId, skip }, call))
    } catch (error) {
      if (isDomainError(error) && error.kind === 'not_found') return undefined
      throw error
    }
  }
}

interface PlaylistPart {
  playlist: Playlist | undefined
  videos: readonly Video[]
  nextSkip: number
}

/**
 * Returns a playlist with all its videos. The catalogue splits a large playlist into several
 * responses, with at least one video each, and `nextSkip` is the start of the next one.
 */
async function readAllParts(fetchPart: (skip: number) => Promise<PlaylistPart>): Promise<{ playlist: Playlist; videos: Video[] }> {
  const first = await fetchPart(0)
  const videos = [...first.videos]
  for (let skip = first.nextSkip; skip > 0; ) {
    const part = await fetchPart(skip)
    videos.push(...part.videos)
    skip = part.nextSkip
  }
  return { playlist: required(first.playlist, 'playlist'), videos }
}

function isWebAddress(address: string): boolean {
  return address === '' || (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
}
