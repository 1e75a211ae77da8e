import type { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import { z } from 'zod'
import { flagText, shown } from '../public-form.ts'
import { VideoRecord } from '../video/video-record.ts'

const fields = {
  playlist_id: shown.id('playlist'),
  playlist_type: shown.text('Free text.', 'standard'),
  title: shown.text('For viewers.', 'Launches'),
  description: shown.text('For viewers.'),
  monetization_url: shown.text('For players; empty for none.'),
  randomise: shown.flag('`"1"` plays the videos in random order.'),
  video_limit: z.string().meta({ description: 'How many of the videos the player plays; `"0"` for all.', example: '0' }),
  open_in_playlist_view: shown.flag('`"1"` shows the list beside the video from the beginning.'),
  created_by_user_id: shown.text('Who created it.', '7'),
  organisation_id: shown.id('organisation'),
  settings: shown.text('For players.'),
  security: z.object({ is_ip_restricted: shown.bool('True: the files of one of its videos are had from some addresses only.') }),
  monetization: z.record(z.string(), z.unknown()).nullable().meta({ description: 'For players; null for none.' }),
}

export const PlaylistRecord = z
  .object({
    ...fields,
    videos: z.array(VideoRecord).meta({ description: 'In order. Guests see those that they may open.' }),
  })
  .meta({ id: 'Playlist', description: 'Videos in a chosen order.' })

export const PlaylistEntry = z
  .object({ ...fields, video_count: shown.int('All of its videos.', 3) })
  .meta({ id: 'PlaylistEntry', description: 'A playlist without its videos.' })

export const PlaylistOrder = z
  .object({
    order: z.array(z.string()).meta({ description: 'Ids of the videos.', example: ['4611686018427387905', '4611686018427387906'] }),
    count: shown.int('How many.', 2),
  })
  .meta({ id: 'PlaylistOrder', description: 'The list as it is now.' })

export function playlistView(playlist: Playlist, videos: z.input<typeof VideoRecord>[]): z.input<typeof PlaylistRecord> {
  return { ...fieldsView(playlist), videos }
}

export function playlistEntryView(playlist: Playlist): z.input<typeof PlaylistEntry> {
  return { ...fieldsView(playlist), video_count: playlist.videoIds.length }
}

export function orderView(videoIds: readonly string[]): z.input<typeof PlaylistOrder> {
  return { order: [...videoIds], count: videoIds.length }
}

function fieldsView(playlist: Playlist) {
  return {
    playlist_id: playlist.playlistId,
    playlist_type: playlist.playlistType,
    title: playlist.title,
    description: playlist.description,
    monetization_url: playlist.monetizationUrl,
    randomise: flagText(playlist.randomise),
    video_limit: String(playlist.videoLimit),
    open_in_playlist_view: flagText(playlist.openInPlaylistView),
    created_by_user_id: playlist.createdByUserId,
    organisation_id: playlist.organisationId,
    settings: playlist.settings,
    security: { is_ip_restricted: playlist.ipRestricted },
    // Only JSON objects of our own writing are stored.
    monetization: playlist.monetizationJson === '' ? null : (JSON.parse(playlist.monetizationJson) as Record<string, unknown>),
  }
}
