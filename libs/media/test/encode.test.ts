import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { chunkFolder, createProgress, encodeChunk, ladder, planEncode, probeSource, setLayout, standardKeys } from '../src/index.ts'
import { type EncodeResult, encodeAll, type MediaFixture, openMediaFixture, picture, quick, sound } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

function mp4s(encoded: EncodeResult) {
  return encoded.files.filter((file) => file.kind === 'mp4')
}

async function keyTimes(encoded: EncodeResult, key: string): Promise<string[]> {
  const entries = ['-select_streams', 'v', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0']
  const packets = await fixture.ffprobe(join(encoded.set, setLayout.mp4(key)), ...entries)
  return packets
    .split('\n')
    .filter((line) => /,K/.test(line))
    .map((line) => line.split(',')[0] ?? '')
}

async function outerBoxTypes(file: string): Promise<string[]> {
  const bytes = await readFile(file)
  const types: string[] = []
  for (let offset = 0; offset + 8 <= bytes.length; offset += bytes.readUInt32BE(offset))
    types.push(bytes.toString('latin1', offset + 4, offset + 8))
  return types
}

async function expectToPlay(encoded: EncodeResult): Promise<void> {
  const { stderr } = await fixture.ffmpeg('-xerror', '-i', join(encoded.set, setLayout.master), '-map', '0', '-f', 'null', '-')
  expect(stderr).toBe('')
}

describe.each([
  ['a test card', '-f lavfi -i testsrc=s=1280x720:r=25:d=12'],
  ['noise', '-f lavfi -i color=gray:s=1280x720:r=25:d=12,noise=alls=100:allf=t'],
])('12 s of %s in 720p with loud audio', (name, source) => {
  let encoded: EncodeResult
  beforeAll(async () => {
    const line = `${source} -f lavfi -i anoisesrc=a=0.8:r=48000:d=12 -c:v libx264 -preset ultrafast -qp 24 -pix_fmt yuv420p -c:a aac -b:a 192k`
    encoded = await fixture.encode(await fixture.make(`${name.replace(/\W/g, '')}.mp4`, line))
  }, 180_000)

  test('produces six renditions of the planned size whose bit rate exceeds the label by at most a tenth', () => {
    expect(mp4s(encoded).map((file) => [file.key, file.width, file.height])).toEqual([
      ['h264_100', 256, 144],
      ['h264_250', 426, 240],
      ['h264_360', 640, 360],
      ['h264_500', 640, 360],
      ['h264_800', 854, 480],
      ['h264_1200', 1280, 720],
    ])
    for (const file of mp4s(encoded)) {
      const label = ladder.find((rung) => rung.key === file.key)?.label ?? 0
      expect(((file.bytes * 8) / 12 / 1000 / label) * 100).toBeLessThanOrEqual(110)
      expect(Math.abs((file.durationSeconds ?? 0) - 12)).toBeLessThanOrEqual(0.2)
    }
  })

  test('has key frames every 2 s at the same times in all renditions, and moov at the start', async () => {
    for (const key of standardKeys) {
      expect(await keyTimes(encoded, key)).toEqual(['0.000000', '2.000000', '4.000000', '6.000000', '8.000000', '10.000000'])
      const types = await outerBoxTypes(join(encoded.set, setLayout.mp4(key)))
      expect(types.indexOf('moov')).toBeLessThan(types.indexOf('mdat'))
    }
  })

  test('has the Baseline profile in h264_360, and plays as HLS without an error', async () => {
    const profile = await fixture.ffprobe(
      join(encoded.set, 'h264_360.mp4'),
      '-select_streams',
      'v',
      '-show_entries',
      'stream=profile',
      '-of',
      'csv=p=0',
    )
    expect(profile.trim()).toBe('Constrained Baseline')
    const master = await readFile(join(encoded.set, setLayout.master), 'utf8')
    expect(master).toContain('RESOLUTION=1280x720,FRAME-RATE=25.000,AUDIO="audio_128"\nh264_1200/index.m3u8')
    expect(master).toMatch(/CODECS="avc1\.42C0[0-9A-F]{2},mp4a\.40\.2",RESOLUTION=640x360/)
    await expectToPlay(encoded)
  }, 60_000)

  test('lists every file with its size and checksum', async () => {
    const kinds = Object.groupBy(encoded.files, (file) => file.kind)
    expect(Object.entries(kinds).map(([kind, files]) => [kind, files?.length])).toEqual([
      ['mp4', 6],
      ['hls_playlist', 9],
      ['hls_init', 9],
      ['hls_segment', 27],
      ['hls_master', 1],
      ['sound', 1],
      ['image', 6],
      ['storyboard', 1],
      ['preview', 1],
    ])
    for (const file of encoded.files) {
      const bytes = await readFile(join(encoded.set, file.path))
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([file.bytes, file.sha256])
    }
  })
})

const flash = "-f lavfi -i color=black:s=320x180:r=30:d=4,drawbox=t=fill:c=white:enable='between(t,1,1.5)'"
const beep = "-f lavfi -i aevalsrc='0.8*sin(6283*t)*between(t,1,1.5)':s=44100:d=4"

/**
 * Returns the first times from `from` on at which the picture is white and the sound is loud, in
 * seconds.
 */
async function flashAndBeep(file: string, from = 0): Promise<[number, number]> {
  const input = ['-i', file]
  const seen = await fixture.ffmpeg(
    ...input,
    ...['-map', '0:v:0', '-vf', 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-', '-f', 'null', '-'],
  )
  const measured = 'asetnsamples=n=480,astats=metadata=1:reset=1,ametadata=print:key=lavfi.astats.Overall.RMS_level:file=-'
  const received = await fixture.ffmpeg(...input, '-map', '0:a:0', '-af', measured, '-f', 'null', '-')
  return [firstAbove(seen.stdout, 120, from), firstAbove(received.stdout, -20, from)]
}

test('audio and video stay synchronous in MP4 and HLS', async () => {
  const encoded = await fixture.encode(await fixture.make('sync.mp4', `${flash} ${beep} ${quick}`), ['h264_360', 'h264_1200'])
  for (const file of ['h264_360.mp4', 'h264_1200.mp4', setLayout.master]) {
    const [seen, received] = await flashAndBeep(join(encoded.set, file))
    expect(seen).toBeCloseTo(1, 1)
    expect(Math.abs(seen - received)).toBeLessThanOrEqual(0.045)
  }
}, 60_000)

test('audio and video stay synchronous after a jump in time stamps, although two runs encode them', async () => {
  // The sound ends long before the picture, so the gap of the picture does not exist in the sound.
  const part = await fixture.make('part.ts', `${flash} ${beep.replace('d=4', 'd=3')} ${quick}`)
  const joined = join(fixture.folder, 'jump.ts')
  const later = await fixture.make('later.ts', `-i ${part} -c copy -output_ts_offset 2`)
  await writeFile(joined, Buffer.concat([await readFile(part), await readFile(later)]))
  const encoded = await fixture.encode(joined, ['h264_360'])
  const [seen, received] = await flashAndBeep(join(encoded.set, 'h264_360.mp4'), 3)
  expect(seen).toBeCloseTo(5, 0)
  expect(Math.abs(seen - received)).toBeLessThanOrEqual(0.045)
}, 60_000)

test('two recordings in one file are both encoded, whatever their time stamps', async () => {
  const part = await fixture.make('first.ts', `${picture('160x120', 25, 2)} ${sound(2)} ${quick}`)
  const twice = join(fixture.folder, 'twice.ts')
  await writeFile(twice, Buffer.concat([await readFile(part), await readFile(part)]))
  const encoded = await fixture.encode(twice, ['h264_100'])
  expect(encoded.plan.durationSeconds).toBeCloseTo(4, 0)
  // If the packets cannot be read, the duration of the container is used.
  const tools = { ...(await fixture.fake('no-packets', 'exit 1')), ffprobe: fixture.tools.ffprobe }
  expect((await probeSource({ source: twice, scratch: fixture.scratch('no-packets'), tools })).durationSeconds).toBeCloseTo(2, 0)
  const late = await fixture.make('late.ts', `-i ${part} -c copy -output_ts_offset 7200`)
  const apart = join(fixture.folder, 'apart.ts')
  await writeFile(apart, Buffer.concat([await readFile(part), await readFile(late)]))
  expect((await probeSource({ source: apart, scratch: fixture.scratch('apart'), tools: fixture.tools })).durationSeconds).toBeCloseTo(4, 0)
}, 60_000)

/**
 * Returns the time of the first frame whose measured value exceeds `level`, from the output of the
 * filter metadata=print.
 */
function firstAbove(text: string, level: number, from: number): number {
  let time = Number.NaN
  for (const line of text.split('\n')) {
    const at = /pts_time:(\S+)/.exec(line)?.[1]
    if (at !== undefined) time = Number(at)
    const value = /=(-?[\d.]+)/.exec(line)?.[1]
    if (at === undefined && value !== undefined && time >= from && Number(value) > level) return time
  }
  return Number.NaN
}

test('a source with audio only becomes renditions without a video track, HLS and waveform images', async () => {
  const encoded = await fixture.encode(await fixture.make('sound.m4a', `${sound(3)} -t 3 -c:a aac`))
  expect(encoded.probe.video).toBeUndefined()
  expect(mp4s(encoded)).toHaveLength(6)
  const streams = await fixture.ffprobe(join(encoded.set, 'h264_1200.mp4'), '-show_entries', 'stream=codec_name,channels', '-of', 'csv=p=0')
  expect(streams.trim()).toBe('aac,2')
  expect(encoded.files.filter((file) => file.kind === 'image').map((file) => [file.key, file.width])).toEqual([
    ['poster', 1280],
    ['thumbnail', 426],
    ['thumb-25', 640],
    ['thumb-50', 640],
    ['thumb-75', 640],
  ])
  expect(encoded.files.filter(({ kind }) => kind === 'storyboard' || kind === 'preview')).toEqual([])
  const sizes = encoded.files.flatMap(({ path, bytes }) => (path.startsWith('images/') ? [bytes] : []))
  expect(Math.max(...sizes)).toBeLessThan(200_000)
  await expectToPlay(encoded)
}, 60_000)

test('a source with video only becomes renditions and HLS without audio', async () => {
  const encoded = await fixture.encode(await fixture.make('silent.mp4', `${picture('320x240', 25, 3)} ${quick}`))
  expect(encoded.plan.audio).toBeUndefined()
  expect(encoded.files.filter(({ kind }) => kind === 'sound')).toEqual([])
  expect(await readFile(join(encoded.set, setLayout.master), 'utf8')).not.toMatch(/AUDIO|mp4a/)
  expect(
    mp4s(encoded)
      .map((file) => [file.width, file.height])
      .at(-1),
  ).toEqual([320, 240])
  await expectToPlay(encoded)
}, 60_000)

test('a portrait video by rotation metadata is encoded upright, and its rungs follow the shorter side', async () => {
  const flat = await fixture.make('flat.mp4', `${picture('640x360', 25, 2)} ${quick}`)
  const rotateOptions =
    Number.parseInt(fixture.tools.version.replace(/^n/, ''), 10) === 5
      ? `-i ${flat} -c copy -metadata:s:v rotate=90`
      : `-display_rotation 90 -i ${flat} -c copy`
  const encoded = await fixture.encode(await fixture.make('turned.mp4', rotateOptions))
  expect([encoded.probe.video?.width, encoded.probe.video?.height]).toEqual([360, 640])
  expect(mp4s(encoded).map((file) => [file.width, file.height])).toEqual([
    [144, 256],
    [240, 426],
    [360, 640],
    [360, 640],
    [360, 640],
    [360, 640],
  ])
  const probed = await fixture.ffprobe(join(encoded.set, 'h264_1200.mp4'), '-show_streams', '-of', 'json')
  expect(probed).not.toMatch(/rotation|rotate/)
}, 60_000)

test.each([
  ['odd dimensions', `${picture('321x243', 25, 2)} -c:v libx264 -preset ultrafast -pix_fmt yuv444p`, 'odd.mp4', [320, 242]],
  ['pixels that are not square', `${picture('360x288', 25, 2)} -vf setsar=16/11 ${quick}`, 'wide.mp4', [524, 288]],
  [
    'full range',
    `${picture('320x240', 25, 2)} -vf scale=out_range=pc -c:v libx264 -preset ultrafast -pix_fmt yuvj420p`,
    'full.mp4',
    [320, 240],
  ],
  ['10 bits', `${picture('320x240', 25, 2)} -c:v libx264 -preset ultrafast -pix_fmt yuv420p10le`, 'deep.mkv', [320, 240]],
  ['interlacing', `${picture('320x240', 50, 2)} -vf interlace -flags +ilme+ildct -c:v mpeg2video -b:v 2M`, 'fields.ts', [320, 240]],
  [
    'surround sound',
    `${picture('320x240', 25, 2)} -f lavfi -i aevalsrc=0.1|0.2|0.1|0|0.1|0.1:c=5.1:d=2 ${quick}`,
    'surround.mkv',
    [320, 240],
  ],
  [
    'HDR',
    `${picture('320x240', 25, 2)} -vf format=yuv420p10le,setparams=color_trc=smpte2084:color_primaries=bt2020:colorspace=bt2020nc -c:v libx265 -x265-params log-level=none -preset ultrafast`,
    'hdr.mkv',
    [320, 240],
  ],
])(
  '%s results in an 8-bit progressive video of even size with square pixels',
  async (_, line, name, size) => {
    const encoded = await fixture.encode(await fixture.make(name, line), ['h264_100', 'h264_1200'])
    const entries = 'stream=codec_name,width,height,pix_fmt,field_order,sample_aspect_ratio'
    const probed = await fixture.ffprobe(
      join(encoded.set, 'h264_1200.mp4'),
      '-select_streams',
      'v',
      '-show_entries',
      entries,
      '-of',
      'csv=p=0',
    )
    expect(probed.trim()).toBe(`h264,${size.join(',')},1:1,yuv420p,progressive`)
  },
  60_000,
)

test('a variable frame rate becomes a constant standard rate', async () => {
  const line = `${picture('320x240', 30, 4)} ${sound(4)} -vf select=not(between(mod(n\\,10)\\,3\\,5)) -fps_mode vfr ${quick}`
  const encoded = await fixture.encode(await fixture.make('variable.mp4', line), ['h264_100', 'h264_250'])
  expect(encoded.probe.video?.variableRate).toBe(true)
  const rates = await fixture.ffprobe(
    join(encoded.set, 'h264_250.mp4'),
    '-select_streams',
    'v',
    '-show_entries',
    'stream=r_frame_rate,avg_frame_rate',
    '-of',
    'csv=p=0',
  )
  expect(['24/1,24/1', '25/1,25/1', '20/1,20/1']).toContain(rates.trim())
}, 60_000)

test('a source whose size changes keeps one size and its full length', async () => {
  const parts = await Promise.all(['320x240', '480x360'].map((size) => fixture.make(`part-${size}.ts`, `${picture(size, 25, 2)} ${quick}`)))
  const joined = join(fixture.folder, 'changing.ts')
  await fixture.ffmpeg('-y', '-i', `concat:${parts.join('|')}`, '-c', 'copy', joined)
  const encoded = await fixture.encode(joined, ['h264_100', 'h264_250'])
  expect(encoded.plan.durationSeconds).toBeCloseTo(4, 0)
}, 60_000)

test('a source of one frame becomes a video with all images', async () => {
  const encoded = await fixture.encode(await fixture.make('one.mp4', `${picture('320x240', 25, 1)} -frames:v 1 ${quick}`), ['h264_100'])
  expect(encoded.files.filter((file) => file.kind === 'image')).toHaveLength(6)
  expect(await readFile(join(encoded.set, setLayout.storyboard), 'utf8')).toMatch(/storyboard-1\.jpg#xywh=0,0,120,90/)
}, 60_000)

test('two runs of one plan produce the same frames', async () => {
  const source = await fixture.make('again.mp4', `-f lavfi -i mandelbrot=s=640x360:r=25,noise=alls=20:allf=t ${sound(5)} -t 5 ${quick}`)
  const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
  const plan = planEncode({ probe, tools: fixture.tools })
  const hashes = await Promise.all(
    [0, 1].map(async () => {
      const scratch = fixture.scratch('again')
      await encodeAll({ plan, source, scratch, tools: fixture.tools })
      const folders = ['0/h264_100', '0/h264_360', '0/h264_1200', '1/audio_64']
      const lists = folders.map((folder) => join(scratch, chunkFolder(Number(folder[0])), folder.slice(2), 'index.m3u8'))
      return Promise.all(lists.map(async (list) => (await fixture.ffmpeg('-i', list, '-map', '0', '-f', 'framemd5', '-')).stdout))
    }),
  )
  expect(hashes[0]?.[0]).toMatch(/0, +\d+, +\d+/)
  expect(hashes[1]).toEqual(hashes[0])
}, 120_000)

test('progress rises with the reports of ffmpeg, up to 96', async () => {
  const source = await fixture.make('long.ts', `${picture('640x360', 30, 30)} ${quick}`)
  const work = { source, scratch: fixture.scratch('progress'), tools: fixture.tools }
  const plan = planEncode({ probe: await probeSource(work), tools: fixture.tools })
  expect(plan.chunks).toHaveLength(1)
  const seen: number[] = []
  const progress = createProgress({ frames: plan.video?.frames ?? 0, seconds: plan.durationSeconds }, (percent) => seen.push(percent))
  await encodeChunk({ ...work, plan, chunkIndex: 0, onProgress: progress.encoding })
  expect(seen).toEqual([...seen].sort((a, b) => a - b))
  expect(seen.at(-1)).toBe(96)
  expect(new Set(seen).size).toBeGreaterThanOrEqual(5)
}, 60_000)
