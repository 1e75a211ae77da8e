import { expect, test } from '@jest/globals'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import {
  PlaylistEntryResponse,
  PlaylistResponse,
  playlistEntryResponse,
  playlistOrderResponse,
  playlistResponse,
} from './playlist-response.ts'

const playlist = Playlist.create({
  playlistId: '4611686018427387905',
  organisationId: '2',
  playlistType: 'standard',
  title: 'Launches',
  randomise: true,
  videoLimit: 3,
  monetizationJson: '{"__proto__":{"a":1}}',
  videoIds: ['5', '6', '5'],
  ipRestricted: true,
  createdByUserId: '7',
})

const fields = {
  playlist_id: '4611686018427387905',
  playlist_type: 'standard',
  title: 'Launches',
  description: '',
  monetization_url: '',
  randomise: '1',
  video_limit: '3',
  open_in_playlist_view: '0',
  created_by_user_id: '7',
  organisation_id: '2',
  settings: '',
  security: { is_ip_restricted: true },
}

test('the playlist response has the documented fields', () => {
  const { monetization, ...response } = playlistResponse(playlist, [])
  expect(response).toEqual({ ...fields, videos: [] })
  expect(JSON.stringify(monetization)).toBe('{"__proto__":{"a":1}}')
  expect(playlistResponse(Playlist.create({}), []).monetization).toBeNull()
  expect(PlaylistResponse.strict().safeParse(playlistResponse(playlist, [])).error).toBeUndefined()
})

test('a playlist in a list has a video count instead of its videos', () => {
  expect(playlistEntryResponse(playlist)).toMatchObject({ ...fields, video_count: 3 })
  expect(PlaylistEntryResponse.strict().safeParse(playlistEntryResponse(playlist)).error).toBeUndefined()
})

test('the order response has the number of videos', () => {
  expect(playlistOrderResponse(['5', '6', '5'])).toEqual({ order: ['5', '6', '5'], count: 3 })
})
