import { expect, test } from '@jest/globals'
import { findNextPlayable, toPlayOrder } from './playlist-order.ts'
import { type PlaylistEntry, type PlaylistRecord, readPlaylistRecord } from './playlist-record.ts'

function createEntry(overrides: Partial<PlaylistEntry> = {}): PlaylistEntry {
  return {
    videoId: '1',
    title: 'Launch',
    thumbnail: '',
    duration: 6,
    isPlayable: true,
    hasFailed: false,
    tokenRequired: false,
    ...overrides,
  }
}

function createRecord(count: number, overrides: Partial<PlaylistRecord> = {}): PlaylistRecord {
  const entries = Array.from({ length: count }, (_, index) => createEntry({ videoId: String(index + 1) }))
  return { title: 'Launches', randomise: false, videoLimit: 0, openInPlaylistView: false, entries, ...overrides }
}
const listIds = (entries: PlaylistEntry[]) => entries.map(({ videoId }) => videoId)

test('a playlist record is parsed, and a malformed record has default values', () => {
  const json = {
    title: 'Launches',
    randomise: '1',
    video_limit: '3',
    open_in_playlist_view: '1',
    videos: [
      {
        video_id: '5',
        video_title: 'Launch',
        duration: '12.48',
        uri: { thumbnail: 't.jpg', hls: 'm.m3u8', http: {} },
        status: { status: 'ok' },
        security: { token_required_platform: true },
      },
      { video_id: '6', video_title: '', uri: { http: {} }, status: { status: 'failed' } },
    ],
  }
  expect(readPlaylistRecord(json)).toEqual({
    title: 'Launches',
    randomise: true,
    videoLimit: 3,
    openInPlaylistView: true,
    entries: [
      createEntry({ videoId: '5', thumbnail: 't.jpg', duration: 12.48, tokenRequired: true }),
      createEntry({ videoId: '6', title: 'Video', duration: 0, isPlayable: false, hasFailed: true }),
    ],
  })
  const defaults = createRecord(0, { title: '' })
  for (const malformed of [null, 'text', [], { videos: 'many', title: 5, randomise: true }])
    expect(readPlaylistRecord(malformed)).toEqual(defaults)
})

test.each([
  ['in order', {}, ['1', '2', '3', '4']],
  ['up to the video limit', { videoLimit: 2 }, ['1', '2']],
  ['completely if the limit is above its length', { videoLimit: 25 }, ['1', '2', '3', '4']],
])('a playlist is played %s', (_, overrides, order) => {
  expect(listIds(toPlayOrder(createRecord(4, overrides)))).toEqual(order)
})

test('a random order has every entry once, and any entry can be the first', () => {
  const record = createRecord(4, { randomise: true })
  const firstIds = new Set<string>()
  for (let step = 0; step < 4; step++) {
    const order = listIds(toPlayOrder(record, () => step / 4))
    expect(order.toSorted()).toEqual(['1', '2', '3', '4'])
    firstIds.add(order[0] ?? '')
  }
  expect(firstIds.size).toBe(4)
  expect(listIds(record.entries)).toEqual(['1', '2', '3', '4'])
  expect(toPlayOrder({ ...record, videoLimit: 2 })).toHaveLength(2)
})

test('the automatic next video is the next playable one', () => {
  const entries = [
    createEntry(),
    createEntry({ isPlayable: false }),
    createEntry({ tokenRequired: true }),
    createEntry(),
    createEntry({ isPlayable: false }),
  ]
  expect([0, 1, 2, 3, 4].map((index) => findNextPlayable(entries, index, false))).toEqual([3, 3, 3, undefined, undefined])
  expect(findNextPlayable(entries, 0, true)).toBe(2)
})
