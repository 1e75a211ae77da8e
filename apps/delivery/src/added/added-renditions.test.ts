import { expect, test } from '@jest/globals'
import { locateFile, withVariants } from './added-renditions.ts'

const added = [
  { jobId: '12', prefix: 'media/7/12-1-a', setPrefix: 'media/7/8-1-b' },
  { jobId: '13', prefix: 'media/7/13-1-c', setPrefix: 'media/7/9-1-d' },
]

test.each([
  ['h264_100.mp4', 'media/7/8-1-b', 'h264_100.mp4'],
  ['added/12/av1_700.mp4', 'media/7/12-1-a', 'av1_700.mp4'],
  ['added/12/hls/av1_700/seg-00001.m4s', 'media/7/12-1-a', 'hls/av1_700/seg-00001.m4s'],
  ['added/13/av1_700.mp4', 'media/7/8-1-b', 'added/13/av1_700.mp4'],
  ['added/0/av1_700.mp4', 'media/7/8-1-b', 'added/0/av1_700.mp4'],
])('the file %s is in %s', (file, prefix, name) => {
  expect(locateFile(file, 'media/7/8-1-b', { added, poster: { jobId: '12', prefix: 'media/7/12-1-c' } })).toEqual({ prefix, file: name })
})

const audio = (key: string) => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${key}",NAME="Audio",DEFAULT=YES,URI="${key}/index.m3u8"`
const variant = (key: string, sound: string) => `#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="${sound}"\n${key}/index.m3u8`
const master = (...parts: string[]) => `#EXTM3U\n#EXT-X-VERSION:7\n${parts.join('\n')}\n`

test('an added variant uses the audio group of the master playlist if it has the same one', () => {
  const set = master(audio('audio_128'), variant('h264_800', 'audio_128'))
  const text = master(audio('audio_128'), variant('av1_700', 'audio_128'))
  expect(withVariants(set, { jobId: '12', text })).toBe(
    `${set}#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="audio_128"\n../added/12/hls/av1_700/index.m3u8\n`,
  )
})

test('an audio group that the master playlist lacks is added with the variant', () => {
  const set = master(audio('audio_128'), variant('h264_800', 'audio_128'))
  const both = withVariants(set, { jobId: '12', text: master(audio('audio_64'), variant('av1_250', 'audio_64')) }).split('\n')
  expect(both[3]).toBe('#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio_64",NAME="Audio",DEFAULT=YES,URI="../added/12/hls/audio_64/index.m3u8"')
  expect(both.at(-2)).toBe('../added/12/hls/av1_250/index.m3u8')
})
