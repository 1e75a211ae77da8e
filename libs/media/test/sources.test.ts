// Faults: R3
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isInvalidSource, maxSounds, planEncode, probeSource, setLayout } from '../src/index.ts'
import { type EncodeResult, type MediaFixture, openMediaFixture, picture, quick } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

const tone = (hertz: number, seconds: number) => `-f lavfi -i sine=f=${hertz}:r=48000:d=${seconds}`

/**
 * Returns the frequency of the tone in a file, to the nearest 50 Hz, and its duration in whole
 * seconds.
 */
async function measureTone(file: string): Promise<{ hertz: number; seconds: number }> {
  const raw = `${file}.pcm`
  await fixture.ffmpeg('-y', '-i', file, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 's16le', raw)
  const bytes = await readFile(raw)
  const isUp = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2) > 500)
  const rises = isUp.filter((up, index) => up && !isUp[index - 1]).length
  const seconds = (isUp.lastIndexOf(true) + 1) / 48_000
  return { hertz: Math.round(rises / seconds / 50) * 50, seconds: Math.round(seconds) }
}

function sumSegmentSeconds({ files }: EncodeResult, key: string): number {
  const segments = files.filter((file) => file.kind === 'hls_segment' && file.key === key)
  return segments.reduce((sum, { durationSeconds = 0 }) => sum + durationSeconds, 0)
}

const attribute = (tag: string, name: string) => new RegExp(`${name}="?([^",]*)`).exec(tag)?.[1]

test('of several audio streams, files contain the default one and HLS offers all', async () => {
  const streams = '-map 0:v -map 1:a -map 2:a -map 3:a -metadata:s:a:0 language=eng -metadata:s:a:1 language=ger'
  const trackOptions = '-metadata:s:a:2 title=Comments -disposition:a:0 0 -disposition:a:1 default'
  const line = `${picture('320x240', 25, 6)} ${tone(300, 6)} ${tone(1000, 6)} ${tone(2000, 2)} ${streams} ${trackOptions} ${quick}`
  const encoded = await fixture.encode(await fixture.make('several.mkv', line), ['h264_100', 'h264_360'])

  const file = join(encoded.set, setLayout.mp4('h264_360'))
  expect(await fixture.ffprobe(file, '-show_entries', 'stream=codec_type', '-of', 'csv=p=0')).toBe('video\naudio\n')
  expect(await measureTone(file)).toEqual({ hertz: 1000, seconds: 6 })

  const tags = (await readFile(join(encoded.set, setLayout.master), 'utf8')).split('\n').filter((tag) => tag.startsWith('#EXT-X-MEDIA:'))
  expect(tags.map((tag) => ['GROUP-ID', 'NAME', 'LANGUAGE', 'DEFAULT', 'URI'].map((name) => attribute(tag, name)))).toEqual(
    ['audio_32', 'audio_64'].flatMap((group) => [
      [group, 'German', 'de', 'YES', `${group}/index.m3u8`],
      [group, 'English', 'en', 'NO', `${group}_2/index.m3u8`],
      [group, 'Comments', undefined, 'NO', `${group}_3/index.m3u8`],
    ]),
  )
  for (const { key } of encoded.plan.audio?.tracks ?? [])
    expect([key, sumSegmentSeconds(encoded, key)]).toEqual([key, expect.closeTo(6, 0)])
  expect(await measureTone(join(encoded.set, setLayout.playlist('audio_32')))).toEqual({ hertz: 1000, seconds: 6 })
  expect(await measureTone(join(encoded.set, setLayout.playlist('audio_64_2')))).toEqual({ hertz: 300, seconds: 6 })
  expect(await measureTone(join(encoded.set, setLayout.playlist('audio_64_3')))).toEqual({ hertz: 2000, seconds: 2 })
}, 60_000)

test('HLS offers both streams of an audio-only source', async () => {
  const line = `${tone(300, 3)} ${tone(1000, 3)} -map 0 -map 1 -c:a aac`
  const encoded = await fixture.encode(await fixture.make('sounds.mka', line), ['h264_100'])
  const master = await readFile(join(encoded.set, setLayout.master), 'utf8')
  expect(master).toMatch(
    /\n#EXT-X-STREAM-INF:BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,CODECS="mp4a.40.2",AUDIO="audio_32"\naudio_32\/index.m3u8\n$/,
  )
  expect(await measureTone(join(encoded.set, setLayout.playlist('audio_32_2')))).toEqual({ hertz: 1000, seconds: 3 })
}, 60_000)

test(`of more than ${maxSounds} audio streams the default and the first ones are used, and more than 32 streams are rejected`, async () => {
  const buildAudioTracks = (count: number) =>
    `${tone(300, 1)} ${'-map 0 '.repeat(count)} -c:a aac -b:a 32k -disposition:a:9 default -disposition:a:0 0`
  const probe = async (source: string) => probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
  const plan = planEncode({ probe: await probe(await fixture.make('ten.mka', buildAudioTracks(10))), tools: fixture.tools })
  expect(plan.audio?.sounds.map(({ streamIndex }) => streamIndex)).toEqual([9, 0, 1, 2, 3, 4, 5, 6])
  await expect(probe(await fixture.make('crowd.mka', buildAudioTracks(40)))).rejects.toMatchObject({
    code: 4003,
    message: expect.stringContaining('40 streams'),
  })
})

test('an audio-only source of a few milliseconds is rejected, and such audio is dropped if there is video', async () => {
  const source = await fixture.make('click.wav', `${tone(300, 0.02)}`)
  const error = await fixture.encode(source, ['h264_100']).catch((error: unknown) => error)
  expect(isInvalidSource(error) && error.code).toBe(4002)
  const line = `${picture('320x240', 100, 0.01)} ${tone(300, 0.01)} -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a pcm_s16le`
  const encoded = await fixture.encode(await fixture.make('frame.mkv', line), ['h264_100'])
  expect(encoded.plan.audio).toBeUndefined()
  expect((await fixture.encode(await fixture.make('blip.wav', tone(300, 0.03)), ['h264_100'])).files.length).toBeGreaterThan(5)
}, 60_000)

test('extreme pixel aspect ratios keep the shape of the picture', async () => {
  const encoded = await fixture.encode(await fixture.make('squeezed.mkv', `${picture('128x360', 25, 1)} -vf setsar=5 ${quick}`), [
    'h264_500',
  ])
  expect(encoded.plan.renditions[0]?.video).toMatchObject({ width: 640, height: 360 })
}, 60_000)

test.each([
  ['HLG', 'arib-std-b67', 'color_primaries=bt2020:colorspace=bt2020nc'],
  ['HLG without colour metadata', 'arib-std-b67', 'color_primaries=unknown:colorspace=unknown'],
  ['PQ without colour metadata', 'smpte2084', 'color_primaries=unknown:colorspace=unknown'],
])(
  '%s is tone-mapped to standard dynamic range',
  async (name, transfer, colours) => {
    const light = `-f lavfi -i color=gray:s=320x240:r=25:d=1 -vf format=yuv420p10le,setparams=color_trc=${transfer}:${colours}`
    const source = await fixture.make(
      `${name.replaceAll(' ', '-')}.mkv`,
      `${light} -c:v libx265 -x265-params log-level=none -preset ultrafast`,
    )
    const encoded = await fixture.encode(source, ['h264_250'])
    expect(encoded.plan.video?.toneMap).toBe(fixture.tools.toneMap)
    const entries = ['-show_entries', 'stream=pix_fmt,color_space,color_transfer,color_primaries', '-of', 'csv=p=0']
    const encodedColours = await fixture.ffprobe(join(encoded.set, setLayout.mp4('h264_250')), ...entries)
    if (fixture.tools.toneMap) expect(encodedColours.trim()).toBe('yuv420p,bt709,bt709,bt709')
  },
  60_000,
)
