import { describe, expect, test } from '@jest/globals'
import { appendVideo, createDefaultFields, removeVideo } from './playlist.ts'
import { mergePlaylist } from './playlist-mask.ts'

const buildIds = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))
const buildPlaylist = (...videoIds: string[]) => ({ ...createDefaultFields('Launches', ''), videoIds })

test.each([
  ['an empty playlist', 0],
  ['a playlist one below the limit', 24],
])('%s accepts one more video', (_, before) => {
  expect(appendVideo(buildPlaylist(...buildIds(before)), '7').videoIds).toEqual([...buildIds(before), '7'])
})

test('a full playlist rejects another video', () => {
  expect(() => appendVideo(buildPlaylist(...buildIds(25)), '7')).toThrow(
    expect.objectContaining({ kind: 'failed_precondition', reason: 'PLAYLIST_FULL' }),
  )
})

describe('removing a video', () => {
  test.each([
    ['every occurrence', '1', undefined, ['2', '3']],
    ['the occurrence at a position', '1', 2, ['1', '2', '3']],
    ['the first occurrence', '1', 0, ['2', '1', '3']],
    ['nothing if another video is at the position', '1', 1, ['1', '2', '1', '3']],
    ['nothing past the end', '1', 24, ['1', '2', '1', '3']],
    ['nothing if the video is missing', '9', undefined, ['1', '2', '1', '3']],
  ])('removes %s', (_, videoId, position, remaining) => {
    expect(removeVideo(buildPlaylist('1', '2', '1', '3'), videoId, position).videoIds).toEqual(remaining)
  })
})

describe('an update', () => {
  const input = { ...createDefaultFields('Landings', 'All of them'), randomise: true, videoLimit: 25, videoIds: ['5', '4', '5'] }
  test('changes the fields in the mask and nothing else', () => {
    expect(mergePlaylist(buildPlaylist('1'), input, ['title', 'randomise', 'video_limit'])).toEqual({
      ...createDefaultFields('Landings', ''),
      randomise: true,
      videoLimit: 25,
      videoIds: ['1'],
    })
    expect(mergePlaylist(buildPlaylist('1'), input, ['video_ids']).videoIds).toEqual(['5', '4', '5'])
  })

  test.each([
    [{ playlistType: '' }, 'playlist_type'],
    [{ playlistType: 'x'.repeat(51) }, 'playlist_type'],
    [{ title: 'x'.repeat(256) }, 'title'],
    [{ description: 'x'.repeat(5_001) }, 'description'],
    [{ settings: 'x'.repeat(10_001) }, 'settings'],
    [{ settings: 'a\0' }, 'settings'],
    [{ monetizationUrl: 'javascript:alert(1)' }, 'monetization_url'],
    [{ monetizationUrl: `https://x/${'y'.repeat(2_048)}` }, 'monetization_url'],
    [{ monetizationJson: '[1]' }, 'monetization_json'],
    [{ videoLimit: 26 }, 'video_limit'],
    [{ videoLimit: -1 }, 'video_limit'],
    [{ videoIds: buildIds(26) }, 'video_ids'],
  ])('rejects %j', (invalid, field) => {
    expect(() => mergePlaylist(buildPlaylist(), { ...input, ...invalid }, [field])).toThrow(
      expect.objectContaining({ reason: 'INVALID_INPUT', fields: [expect.objectContaining({ field })] }),
    )
  })

  test('reports every invalid field at once, including unknown fields', () => {
    const invalid = { ...input, title: 'x'.repeat(256), videoLimit: 0.5 }
    expect(() => mergePlaylist(buildPlaylist(), invalid, ['title', 'video_limit', 'playlist_id'])).toThrow(
      expect.objectContaining({ message: 'bad fields: update_mask, title, video_limit' }),
    )
  })
})
