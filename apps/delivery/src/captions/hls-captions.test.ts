import { expect, test } from '@jest/globals'
import { type CaptionTrack, parseCaptionPath, withCaptions, writeCaptionPlaylist } from './hls-captions.ts'

const track = (more: Partial<CaptionTrack> = {}): CaptionTrack => ({
  captionId: '12',
  revision: 0,
  name: 'English',
  language: 'en',
  showsOnLoad: false,
  ...more,
})
const MASTER = [
  ...['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'],
  '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,URI="a/index.m3u8"',
  ...['#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"', 'b/index.m3u8', '#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a"', 'c/index.m3u8', ''],
].join('\n')

test('a master playlist is unchanged without captions or without variants', () => {
  expect(withCaptions(MASTER, [])).toBe(MASTER)
  expect(withCaptions('#EXTM3U\n', [track()])).toBe('#EXTM3U\n')
})

test('every variant of a master playlist references the caption group', () => {
  const lines = withCaptions(MASTER, [track(), track({ captionId: '13', name: 'Deutsch', language: 'de', showsOnLoad: true })]).split('\n')
  expect(lines.slice(3, 5)).toEqual([
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="captions/12.m3u8"',
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,URI="captions/13.m3u8"',
  ])
  expect(lines.filter((line) => line.startsWith('#EXT-X-STREAM-INF'))).toEqual([
    '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="captions"',
    '#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a",SUBTITLES="captions"',
  ])
  expect(lines.at(-1)).toBe('')
})

test('quotation marks and line breaks in a name cannot end its attribute', () => {
  const [, , , tag] = withCaptions(MASTER, [track({ name: 'x",DEFAULT=YES\n#EXT-X-ENDLIST\u2028' })]).split('\n')
  expect(tag).toContain('NAME="x”,DEFAULT=YES #EXT-X-ENDLIST ",LANGUAGE="en",DEFAULT=NO')
})

test.each([
  ['hls/master.m3u8', 'master'],
  ['hls/captions/12.m3u8', 'playlist'],
  ['hls/captions/12.vtt', 'text'],
  ['hls/captions/13.vtt', 'text'],
  ['hls/captions/-1.vtt', undefined],
  ['hls/captions/12.txt', undefined],
  ['captions/12.vtt', undefined],
  ['hls/h264_100/index.m3u8', undefined],
])('the kind of caption file for %s is %s', (file, kind) => {
  expect(parseCaptionPath(file, { masterPath: 'hls/master.m3u8', durationSeconds: 1, tracks: [track()] })?.kind).toBe(kind)
  expect(parseCaptionPath(file, { masterPath: '', durationSeconds: 0, tracks: [track()] })).toBeUndefined()
})

test('the playlist has one segment with the duration of the video', () => {
  const text = writeCaptionPlaylist('12', 12.48)
  expect(text).toContain('#EXT-X-TARGETDURATION:13\n')
  expect(text).toContain('#EXTINF:12.480000,\n12.vtt\n#EXT-X-ENDLIST\n')
})
