import { describe, expect, test } from '@jest/globals'
import type { PlaybackKind } from '@vitascope/playback-policy'
import { findHeight, readHeights, withoutHigherVariants } from './rendition-heights.ts'

const HEAD = ['#EXTM3U', '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio_128",NAME="Sound",URI="audio_128/index.m3u8"']
const LOW = ['#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360,AUDIO="audio_128"', 'h264_600/index.m3u8']
const HIGH = ['#EXT-X-STREAM-INF:BANDWIDTH=2,CODECS="x",RESOLUTION=1280x720', 'h264_1200/index.m3u8']
const ADDED = ['#EXT-X-STREAM-INF:BANDWIDTH=3,RESOLUTION=1920x1080', '../added/12/hls/av1_700/index.m3u8']
const toText = (...parts: string[][]) => `${parts.flat().join('\n')}\n`
const MASTER = toText(HEAD, LOW, HIGH, ADDED)

test.each<[string, PlaybackKind, number | undefined]>([
  ['hls/h264_600/index.m3u8', 'manifest', 360],
  ['hls/h264_1200/seg-00001.m4s', 'segment', 720],
  ['hls/h264_1200/init.mp4', 'segment', 720],
  ['added/12/hls/av1_700/seg-00001.m4s', 'segment', 1080],
  ['mp4/h264_1200.mp4', 'mp4', 720],
  ['h264_600.mp4', 'mp4', 360],
  ['hls/master.m3u8', 'manifest', 360],
  ['hls/audio_128/seg-00001.m4s', 'segment', undefined],
  ['audio_128.m4a', 'mp4', undefined],
  ['hls/captions/12.m3u8', 'manifest', undefined],
  ['images/poster.jpg', 'image', undefined],
  ['hls/h264_9999/seg-00001.m4s', 'segment', Number.POSITIVE_INFINITY],
  ['h264_9999.mp4', 'mp4', Number.POSITIVE_INFINITY],
])('%s shows a height of %p', (file, kind, height) => {
  expect(findHeight(file, kind, readHeights(MASTER))).toBe(height)
})

describe('the master playlist', () => {
  test.each<[number, string[][]]>([
    [2_000, [HEAD, LOW, HIGH, ADDED]],
    [1_079, [HEAD, LOW, HIGH]],
    [720, [HEAD, LOW, HIGH]],
    [719, [HEAD, LOW]],
    [1, [HEAD]],
  ])('up to %d pixels', (maxHeight, parts) => {
    expect(withoutHigherVariants(MASTER, maxHeight)).toBe(toText(...parts))
  })
  test('with sound only has no height', () => {
    const master = toText(['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'audio_64/index.m3u8'])
    expect(findHeight('hls/master.m3u8', 'manifest', readHeights(master))).toBeUndefined()
    expect(findHeight('hls/audio_64/seg-00001.m4s', 'segment', readHeights(master))).toBeUndefined()
    expect(withoutHigherVariants(master, 100)).toBe(master)
  })
})
