import { expect, test } from '@jest/globals'
import { masterPlaylist, mediaPlaylist, readSegmentList } from './hls-playlist.ts'

const segments = [
  { name: 'seg-00001.m4s', seconds: 4, bytes: 50_000 },
  { name: 'seg-00002.m4s', seconds: 4, bytes: 100_000 },
  { name: 'seg-00003.m4s', seconds: 0.5, bytes: 100_000 },
]

test('a written playlist reads back', () => {
  const text = mediaPlaylist('init.mp4', segments)
  expect(text).toContain('#EXT-X-TARGETDURATION:4\n')
  expect(text.endsWith('#EXTINF:0.500000,\nseg-00003.m4s\n#EXT-X-ENDLIST\n')).toBe(true)
  expect(readSegmentList(text)).toEqual(segments.map(({ name, seconds }) => ({ name, seconds })))
})

test('the master names each variant with its peak and average rate and its sound once', () => {
  const audio = { key: 'audio_64', uri: 'audio_64/index.m3u8', language: 'de', segments: [{ name: 'a', seconds: 8, bytes: 64_000 }] }
  const picture = { width: 426, height: 240, framesPerSecond: 30_000 / 1001 }
  const variant = (uri: string) => ({ uri, segments, codecs: ['avc1.640015', 'mp4a.40.2'], picture, audio })
  const lines = masterPlaylist([variant('a/index.m3u8'), variant('b/index.m3u8')]).split('\n')
  expect(lines.filter((line) => line.startsWith('#EXT-X-MEDIA'))).toEqual([
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio_64",NAME="Audio",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio_64/index.m3u8"',
  ])
  expect(lines).toContain(
    '#EXT-X-STREAM-INF:BANDWIDTH=264000,AVERAGE-BANDWIDTH=299295,CODECS="avc1.640015,mp4a.40.2",RESOLUTION=426x240,FRAME-RATE=29.970,AUDIO="audio_64"',
  )
})
