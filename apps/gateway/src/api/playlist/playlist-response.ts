import type { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import { z } from 'zod'
import { formatFlag, schema } from '../../server/schema/response-format.ts'
import { VideoResponse } from '../video/video-response.ts'

const fields = {
  playlist_id: schema.id('playlist'),
  playlist_type: schema.text('Type of the playlist. Free text.', 'standard'),
  title: schema.text('Title that viewers see.', 'Launches'),
  description: schema.text('Description that viewers see.', 'The launch, from the gate to orbit.'),
  monetization_url: schema.text('URL for players. Empty if there is none.', ''),
  randomise: schema.flag('`"1"` plays the videos in random order.'),
  video_limit: z.string().meta({ description: 'Number of videos that the player plays. `"0"` means all.', example: '0' }),
  open_in_playlist_view: schema.flag('`"1"` shows the list next to the video from the start.'),
  created_by_user_id: schema.text('Id of the user who created the playlist.', '7'),
  organisation_id: schema.id('organisation'),
  settings: schema.text('Setting for players.', ''),
  security: z.object({
    is_ip_restricted: schema.bool('`true`: media files of at least one of its videos are served only to allowed IP addresses.'),
  }),
  monetization: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Setting for players. null if there is none.' }),
}

export const PlaylistResponse = z
  .object({
    ...fields,
    videos: z.array(VideoResponse).meta({ description: 'Videos in order. Guests receive only the videos that they may see.' }),
  })
  .meta({ id: 'Playlist', description: 'A playlist: an ordered list of videos.' })

export const PlaylistEntryResponse = z
  .object({ ...fields, video_count: schema.int('Number of all its videos.', 3) })
  .meta({ id: 'PlaylistEntry', description: 'A playlist without its videos.' })

export const PlaylistOrderResponse = z
  .object({
    order: z
      .array(z.string())
      .meta({ description: 'Ids of the videos in order.', example: ['4611686018427387905', '4611686018427387906'] }),
    count: schema.int('Number of videos.', 2),
  })
  .meta({ id: 'PlaylistOrder', description: 'The current list of videos.' })

export function playlistResponse(playlist: Playlist, videos: z.input<typeof VideoResponse>[]): z.input<typeof PlaylistResponse> {
  return { ...fieldsResponse(playlist), videos }
}

export function playlistEntryResponse(playlist: Playlist): z.input<typeof PlaylistEntryResponse> {
  return { ...fieldsResponse(playlist), video_count: playlist.videoIds.length }
}

export function playlistOrderResponse(videoIds: readonly string[]): z.input<typeof PlaylistOrderResponse> {
  return { order: [...videoIds], count: videoIds.length }
}

function fieldsResponse(playlist: Playlist) {
  return {
    playlist_id: playlist.playlistId,
    playlist_type: playlist.playlistType,
    title: playlist.title,
    description: playlist.description,
    monetization_url: playlist.monetizationUrl,
    randomise: formatFlag(playlist.randomise),
    video_limit: String(playlist.videoLimit),
    open_in_playlist_view: formatFlag(playlist.openInPlaylistView),
    created_by_user_id: playlist.createdByUserId,
    organisation_id: playlist.organisationId,
    settings: playlist.settings,
    security: { is_ip_restricted: playlist.ipRestricted },
    // Only JSON objects serialised by this platform are stored.
    monetization: playlist.monetizationJson === '' ? null : (JSON.parse(playlist.monetizationJson) as Record<string, unknown>),
  }
}
