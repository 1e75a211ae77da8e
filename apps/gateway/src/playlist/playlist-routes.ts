import { invalid, isDomainError } from '@vitascope/errors'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import type { Video } from '@vitascope/proto/catalogue/v1/video'
import { z } from 'zod'
import { flag, id, idField, int, jsonObject, list, text } from '../fields.ts'
import { namedOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, Reply, route } from '../route.ts'
import { guestVideoView, ownVideoView } from '../video/video-view.ts'
import { FEED_TYPE, playlistFeed } from './playlist-feed.ts'
import { orderView, PlaylistEntry, PlaylistOrder, PlaylistRecord, playlistEntryView, playlistView } from './playlist-view.ts'

const MOST_VIDEOS = 25
const title = text(255, {}, { description: 'For viewers.', example: 'Launches' })
const description = text(5_000, {}, { description: 'For viewers.' })

export const getPlaylist = route({
  get: ['/playlist/:playlistId'],
  section: 'Playlists',
  access: 'public',
  summary: 'Read a playlist with its videos',
  description:
    'Keys of its organisation and system keys see all videos; everybody else those that are enabled and have not expired. ' +
    'It opens at `/player/{playlist_id}`.',
  params: z.object({ playlistId: id('playlist') }),
  answer: PlaylistRecord,
  async handle({ params }, context) {
    const { playlist, videos, view } = await findPlaylist(params.playlistId, context)
    return playlistView(
      playlist,
      videos.map((video) => view(video, context.publicUrl)),
    )
  },
})

const changes = z.strictObject({
  playlist_type: text(50, { min: 1 }, { description: 'Free text.', example: 'standard' }).optional(),
  title: title.optional(),
  description: description.optional(),
  monetization_url: text(2_048, {}, { description: 'http or https; `""` for none.' })
    .refine(isWebAddress, 'must be an address beginning with http:// or https://')
    .optional(),
  randomise: flag({ description: '1 plays the videos in random order.' }).optional(),
  video_limit: int({ min: 0, max: MOST_VIDEOS }, { description: 'How many of the videos the player plays; 0 for all.' }).optional(),
  open_in_playlist_view: flag({ description: '1 shows the list beside the video from the beginning.' }).optional(),
  settings: text(10_000, {}, { description: 'For players.' }).optional(),
  monetization: jsonObject(10_000, { description: 'For players.' }).optional(),
  videos: list(
    idField('video: of the same organisation'),
    { max: MOST_VIDEOS, clearable: true },
    { description: 'All videos in their order; one may be there more than once.' },
  ).optional(),
})

/** What the catalogue calls by other names. */
const maskNames: Readonly<Record<string, string>> = { monetization: 'monetization_json', videos: 'video_ids' }

export const updatePlaylist = route({
  put: ['/playlist/:playlistId'],
  section: 'Playlists',
  access: 'user',
  summary: 'Change a playlist',
  description: 'Takes any of the fields; those left out stay as they are.',
  params: z.object({ playlistId: id('playlist') }),
  payload: changes,
  answer: z.object({ status: z.literal(true) }),
  async handle({ params, payload }, { services, call }) {
    const sent = Object.keys(payload)
    if (sent.length === 0) throw invalid([{ field: 'payload', message: 'must have at least one field' }])
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
    const updateMask = sent.map((name) => maskNames[name] ?? name)
    const publicNames = { monetization_json: 'monetization', video_ids: 'videos' }
    await withPublicNames(publicNames, services.playlists.updatePlaylist({ playlist, updateMask }, call))
    return { status: true as const }
  },
})

export const createPlaylist = route({
  post: ['/playlist/create/:organisationId'],
  aliases: [{ verb: 'put', path: '/playlist/create/:organisationId' }],
  section: 'Playlists',
  access: 'user',
  summary: 'Create an empty playlist',
  params: z.object({ organisationId: id('organisation') }),
  payload: z.strictObject({ title: title.default(''), description: description.default('') }),
  payloadOptional: true,
  answer: z.object({ playlist_id: shown.id('playlist') }),
  async handle({ params, payload }, { caller, services, call }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { playlistId } = await services.playlists.createPlaylist({ organisationId, ...payload }, call)
    return { playlist_id: playlistId }
  },
})

const entry = z.object({ playlistId: id('playlist'), videoId: id('video') })

export const addVideo = route({
  put: ['/playlist/:playlistId/add/video/:videoId'],
  section: 'Playlists',
  access: 'user',
  summary: 'Append a video to a playlist',
  description: 'The same video may be added more than once.',
  params: entry,
  answer: z.object({ status: z.object({ added: shown.id('video') }), videos: PlaylistOrder }),
  refusals: { playlist_full: `it already holds ${MOST_VIDEOS} videos` },
  async handle({ params }, { services, call }) {
    const { videoIds } = await services.playlists.addVideoToPlaylist(params, call)
    return { status: { added: params.videoId }, videos: orderView(videoIds) }
  },
})

export const removeVideo = route({
  delete: ['/playlist/:playlistId/remove/video/:videoId'],
  aliases: [{ verb: 'put', path: '/playlist/:playlistId/remove/video/:videoId' }],
  section: 'Playlists',
  access: 'user',
  summary: 'Take a video out of a playlist',
  description: 'Takes out every occurrence, or the one at `position`. What is not there is not removed: the answer has the list as it is.',
  params: entry,
  query: z.object({
    position: int({ min: 0, max: MOST_VIDEOS - 1 }, { description: 'The only place to look at, from 0.' }).optional(),
  }),
  answer: z.object({ status: z.object({ tried_to_remove: shown.id('video') }), videos: PlaylistOrder }),
  async handle({ params, query }, { services, call }) {
    const { videoIds } = await services.playlists.removeVideoFromPlaylist({ ...params, position: query.position }, call)
    return { status: { tried_to_remove: params.videoId }, videos: orderView(videoIds) }
  },
})

export const listPlaylists = route({
  get: ['/playlist/organisation/:organisationId'],
  section: 'Playlists',
  access: 'user',
  summary: 'List the playlists of an organisation',
  description: 'Oldest first, without their videos.',
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(pageQuery),
  answer: z.array(PlaylistEntry),
  async handle({ params, query }, { caller, services, call, publicUrl }) {
    const organisationId = namedOrganisation(caller, params.organisationId)
    const { rows, more } = await collectRows({ ...query, part: 250 }, async (page) => {
      const { playlists, nextPageToken } = await services.playlists.listPlaylists({ organisationId, ...page }, call)
      return { rows: playlists, nextPageToken }
    })
    const headers = nextLink(publicUrl, `/playlist/organisation/${organisationId}`, { ...query, more })
    return new Reply(rows.map(playlistEntryView), { headers })
  },
})

export const getPlaylistFeed = route({
  get: ['/playlist/rss/:playlistId'],
  section: 'Playlists',
  access: 'user',
  summary: 'Read a playlist as an RSS feed',
  description: 'RSS 2.0 with Media RSS, of the videos that guests see: a feed is made to be passed on.',
  params: z.object({ playlistId: id('playlist') }),
  answer: z.string(),
  types: [FEED_TYPE],
  async handle({ params }, { services, call, publicUrl }) {
    const { playlistId } = params
    await services.playlists.getPlaylist({ playlistId, skip: 0 }, call)
    const { playlist, videos } = await readWhole((skip) => services.playlists.findPublicPlaylist({ playlistId, skip }, call))
    return new Reply(playlistFeed(playlist, videos, publicUrl), { headers: { 'Content-Type': `${FEED_TYPE}; charset=utf-8` } })
  },
})

export const playlistRoutes = [getPlaylist, updatePlaylist, createPlaylist, addVideo, removeVideo, listPlaylists, getPlaylistFeed]

/** Its own organisation and the system see all of a playlist; everybody else, keys of other organisations too, what a guest sees. */
async function findPlaylist(playlistId: string, { caller, services, call }: Context) {
  const own = caller.kind === 'guest' ? undefined : await getOwnPlaylist()
  if (own) return { ...own, view: ownVideoView }
  const found = await readWhole((skip) => services.playlists.findPublicPlaylist({ playlistId, skip }, call))
  return { ...found, view: guestVideoView }

  async function getOwnPlaylist() {
    try {
      return await readWhole((skip) => services.playlists.getPlaylist({ playlistId, skip }, call))
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

/** A playlist of large videos comes in several messages; each brings at least one video. */
async function readWhole(ask: (skip: number) => Promise<PlaylistPart>): Promise<{ playlist: Playlist; videos: Video[] }> {
  const first = await ask(0)
  const videos = [...first.videos]
  for (let skip = first.nextSkip; skip > 0; ) {
    const part = await ask(skip)
    videos.push(...part.videos)
    skip = part.nextSkip
  }
  return { playlist: given(first.playlist, 'playlist'), videos }
}

function isWebAddress(address: string): boolean {
  return address === '' || (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol))
}
