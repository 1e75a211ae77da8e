import { expect, test } from '@jest/globals'
import { masterPlaylist, mediaPlaylist, readSegmentList } from './hls-playlist.ts'

const segments = [
  { name: 'seg-00001.m4s', seconds: 4, bytes: 50_000 },
  { name: 'seg-00002.m4s', seconds: 4, bytes: 100_000 },
  { name: 'seg-00003.m4s', seconds: 0.5, bytes: 100_000 },
]

test('a written playlist can be parsed again', () => {
  const text = mediaPlaylist('init.mp4', segments)
  expect(text).toContain('#EXT-X-TARGETDURATION:4\n')
  expect(text.endsWith('#EXTINF:0.500000,\nseg-00003.m4s\n#EXT-X-ENDLIST\n')).toBe(true)
  expect(readSegmentList(text)).toEqual(segments.map(({ name, seconds }) => ({ name, seconds })))
})

test('playlists have the segments of a week', () => {
  const week = Array.from({ length: 151_200 }, (_, index) => ({ name: `seg-${index + 1}.m4s`, seconds: 4, bytes: 500 }))
  expect(readSegmentList(mediaPlaylist('init.mp4', week))).toHaveLength(151_200)
  expect(masterPlaylist([{ uri: 'a/index.m3u8', segments: week, codecs: ['mp4a.40.2'] }])).toContain('BANDWIDTH=1000,')
})

const track = (uri: string, bytes: number, more = {}) => ({
  ...{ uri, name: 'Deutsch', language: 'de', isDefault: true, segments: [{ name: 'a', seconds: 8, bytes }] },
  ...more,
})

test('the master playlist lists each variant with peak and average rate, and each audio track once', () => {
  const audio = { key: 'audio_64', tracks: [track('audio_64/index.m3u8', 64_000)] }
  const picture = { width: 426, height: 240, framesPerSecond: 30_000 / 1001 }
  const variant = (uri: string) => ({ uri, segments, codecs: ['avc1.640015', 'mp4a.40.2'], picture, audio })
  const lines = masterPlaylist([variant('a/index.m3u8'), variant('b/index.m3u8')]).split('\n')
  expect(lines.filter((line) => line.startsWith('#EXT-X-MEDIA'))).toEqual([
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio_64",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio_64/index.m3u8"',
  ])
  expect(lines).toContain(
    '#EXT-X-STREAM-INF:BANDWIDTH=299295,AVERAGE-BANDWIDTH=299295,CODECS="avc1.640015,mp4a.40.2",RESOLUTION=426x240,FRAME-RATE=29.970,AUDIO="audio_64"',
  )
})

test('one of several audio tracks is the default, a track without a language is not selected automatically, and the highest bandwidth counts', () => {
  const tracks = [track('a', 64_000), track('b', 96_000, { isDefault: false, language: '', name: 'Comments' })]
  const variant = {
    uri: 'v',
    segments: [{ name: 's', seconds: 8, bytes: 8_000 }],
    codecs: ['avc1.640015', 'mp4a.40.2'],
    audio: { key: 'g', tracks },
  }
  const lines = masterPlaylist([{ ...variant, picture: { width: 2, height: 2, framesPerSecond: 25 } }]).split('\n')
  expect(lines.slice(3, 6)).toEqual([
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="a"',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="Comments",DEFAULT=NO,AUTOSELECT=NO,CHANNELS="2",URI="b"',
    expect.stringContaining('BANDWIDTH=104000,AVERAGE-BANDWIDTH=104000,'),
  ])
})
