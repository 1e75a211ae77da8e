import { expect, test } from '@jest/globals'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import { orderView, PlaylistEntry, PlaylistRecord, playlistEntryView, playlistView } from './playlist-view.ts'

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

test('a playlist is shown in the form of records', () => {
  const { monetization, ...view } = playlistView(playlist, [])
  expect(view).toEqual({ ...fields, videos: [] })
  expect(JSON.stringify(monetization)).toBe('{"__proto__":{"a":1}}')
  expect(playlistView(Playlist.create({}), []).monetization).toBeNull()
  expect(PlaylistRecord.strict().safeParse(playlistView(playlist, [])).error).toBeUndefined()
})

test('in a list it has its count in place of its videos', () => {
  expect(playlistEntryView(playlist)).toMatchObject({ ...fields, video_count: 3 })
  expect(PlaylistEntry.strict().safeParse(playlistEntryView(playlist)).error).toBeUndefined()
})

test('an order has its count', () => {
  expect(orderView(['5', '6', '5'])).toEqual({ order: ['5', '6', '5'], count: 3 })
})
