import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  canExecutePlan,
  chunkFolder,
  chunkIndexes,
  type EncodePlan,
  encodeChunk,
  packageRenditions,
  planEncode,
  probeSource,
  readSegmentHead,
  setFolder,
  verifySet,
} from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, sound } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

/**
 * Returns ffmpeg options for a source with the number of each frame in binary, as twelve black or
 * white bands, so that a decoded frame can be identified.
 */
function buildNumberedSource(rate: string | number, seconds: number): string {
  const bits = "lum='255*mod(floor(N/pow(2,X)),2)'"
  return `-f lavfi -i color=black:s=12x4:r=${rate}:d=${seconds},format=gray,geq=${bits},scale=192:64:flags=neighbor,format=yuv420p`
}

/** Returns the numbers of all frames of a file, in order. */
async function readFrameNumbers(file: string, [width, height]: [number, number]): Promise<number[]> {
  const raw = `${file}.gray`
  await fixture.ffmpeg('-y', '-i', file, '-map', '0:v', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray', raw)
  const bytes = await readFile(raw)
  const frame = (index: number) => bytes.subarray(index * width * height, (index + 1) * width * height)
  const pixel = (band: number) => {
    const [long, short] = [Math.floor(((band + 0.5) / 12) * Math.max(width, height)), Math.floor(Math.min(width, height) / 2)]
    return width > height ? short * width + long : long * width + short
  }
  return Array.from({ length: bytes.length / (width * height) }, (_, index) =>
    Array.from({ length: 12 }, (_, band) => ((frame(index)[pixel(band)] ?? 0) > 127 ? 2 ** band : 0)).reduce((sum, bit) => sum + bit, 0),
  )
}

async function planSource(source: string): Promise<EncodePlan> {
  const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
  return planEncode({ probe, tools: fixture.tools, keys: ['h264_100', 'h264_360'] })
}

/**
 * Returns the same plan with a single chunk, which decodes the whole source. It has only the
 * picture of the first rendition.
 */
function toSingleChunk({ audio: _, ...plan }: EncodePlan): EncodePlan {
  const [chunk] = plan.chunks
  const [{ audioKey: __, ...rendition } = { key: '', label: 0 }] = plan.renditions
  if (!plan.video || !chunk) throw new Error('the plan has no picture')
  return { ...plan, chunks: [{ ...chunk, frames: plan.video.frames }], renditions: [rendition], images: [] }
}

/**
 * Encodes a source by a plan and returns the numbers of the frames, which must be equal in all
 * renditions.
 */
async function encodeAndReadNumbers(source: string, plan: EncodePlan): Promise<number[]> {
  const work = { source, scratch: fixture.scratch('chunks'), tools: fixture.tools, plan }
  await encodeAll(work)
  await packageRenditions(work)
  await verifySet(work)
  const { width = 0, height = 0 } = plan.renditions[0]?.video ?? {}
  const numbers = (key: string) => readFrameNumbers(join(work.scratch, setFolder, `${key}.mp4`), [width, height])
  const first = await numbers('h264_100')
  for (const { key } of plan.renditions.slice(1)) expect(await numbers(key)).toEqual(first)
  return first
}

const x264 = '-c:v libx264 -preset veryfast -bf 3 -b_strategy 0'

describe('every frame is present once, at its position, across chunk boundaries:', () => {
  test.each([
    ['MP4 with B frames and key frames ten seconds apart', 'long.mp4', `${buildNumberedSource(30, 21)} ${x264} -g 300`, 3],
    ['MP4 with open groups', 'open.mp4', `${buildNumberedSource(25, 16)} ${x264} -g 50 -x264-params open-gop=1`, 3],
    ['29.97 frames per second', 'ntsc.mp4', `${buildNumberedSource('30000/1001', 16)} ${sound(14)} ${x264} -g 77 -c:a aac`, 3],
    ['120 frames per second, of which 60 are kept', 'fast.mp4', `${buildNumberedSource(120, 16)} ${x264} -g 240`, 3],
    ['Matroska', 'film.mkv', `${buildNumberedSource('24000/1001', 16)} ${sound(14)} ${x264} -g 100 -c:a libopus`, 3],
    [
      'WebM',
      'film.webm',
      `${buildNumberedSource(25, 16)} ${sound(14)} -c:v libvpx -deadline realtime -cpu-used 8 -b:v 500k -g 90 -c:a libopus`,
      3,
    ],
    [
      'HEVC with open groups',
      'hevc.mp4',
      `${buildNumberedSource(25, 16)} -c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=60:open-gop=1`,
      3,
    ],
    ['interlaced fields', 'fields.mp4', `${buildNumberedSource(50, 16)} -vf interlace -flags +ilme+ildct ${x264} -g 60`, 3],
    ['a fragmented MP4', 'fragments.mp4', `${buildNumberedSource(25, 16)} ${x264} -g 50 -movflags +frag_keyframe+empty_moov`, 3],
    ['MPEG-TS', 'film.ts', `${buildNumberedSource(25, 16)} ${sound(14)} ${x264} -g 60 -c:a aac`, 1],
    ['AVI', 'film.avi', `${buildNumberedSource(25, 16)} ${sound(14)} -c:v mpeg4 -g 60 -c:a mp3`, 1],
  ])(
    '%s',
    async (_, name, line, chunks) => {
      const source = await fixture.make(name, line)
      const plan = await planSource(source)
      expect(plan.chunks).toHaveLength(chunks)
      const frames = await encodeAndReadNumbers(source, plan)
      expect(frames).toHaveLength(plan.video?.frames ?? 0)
      if (chunks > 1) expect(frames).toEqual(await encodeAndReadNumbers(source, toSingleChunk(plan)))
      // Fields are interleaved, and a container may extend the first or the last frame.
      const distances = frames.slice(1).map((number, index) => number - (frames[index] ?? 0))
      const step = name === 'fast.mp4' ? 2 : 1
      if (chunks > 1 && name !== 'fields.mp4') expect(new Set(distances)).toEqual(new Set([step]))
      else expect(distances.every((distance) => distance >= 0)).toBe(true)
    },
    120_000,
  )

  test('frames that last for seconds, across chunk boundaries and up to the end', async () => {
    const frameRanges = ['between(n,0,40)', 'between(n,47,99)', 'eq(n,118)', 'eq(n,301)', 'between(n,420,440)']
    const select = `-vf select=${frameRanges.join('+').replaceAll(',', '\\,')}`
    const source = await fixture.make(
      'held.mp4',
      `${buildNumberedSource(30, 16)} ${sound(24)} ${select} -fps_mode vfr ${x264} -g 60 -c:a aac`,
    )
    const plan = await planSource(source)
    expect(plan.chunks.length).toBeGreaterThan(2)
    const numbers = await encodeAndReadNumbers(source, plan)
    expect(numbers).toEqual(await encodeAndReadNumbers(source, toSingleChunk(plan)))
    expect(numbers.at(-1)).toBeGreaterThanOrEqual(439)
  }, 120_000)

  test('time stamps below zero, an edit list that skips the start, and video that starts late', async () => {
    const plain = await fixture.make('plain.mp4', `${buildNumberedSource(30, 19)} ${sound(19)} ${x264} -g 90 -c:a aac`)
    const created = await Promise.all([
      // The copy starts in the middle of a group, and the edit list hides the earlier frames.
      fixture.make('edited.mp4', `-ss 1.7 -i ${plain} -c copy`),
      fixture.make('late.mkv', `-i ${plain} -itsoffset 1.3 -i ${plain} -map 0:a -map 1:v -c copy`),
      fixture.make('early.mkv', `-itsoffset -0.5 -i ${plain} -c copy -avoid_negative_ts disabled`),
      fixture.make('offset.mp4', `-itsoffset 100 -i ${plain} -c copy -copyts`),
    ])
    for (const source of created) {
      const plan = await planSource(source)
      expect([source, plan.chunks.length]).toEqual([source, 3])
      expect(await encodeAndReadNumbers(source, plan)).toEqual(await encodeAndReadNumbers(source, toSingleChunk(plan)))
    }
  }, 240_000)

  test('a portrait video by rotation metadata', async () => {
    const flat = await fixture.make('flat.mp4', `${buildNumberedSource(30, 16)} ${x264} -g 90`)
    const rotateOptions = fixture.tools.version.startsWith('5')
      ? `-i ${flat} -c copy -metadata:s:v rotate=90`
      : `-display_rotation 90 -i ${flat} -c copy`
    const source = await fixture.make('turned.mp4', rotateOptions)
    const plan = await planSource(source)
    expect(plan.renditions[0]?.video).toMatchObject({ width: 64, height: 192 })
    expect(await encodeAndReadNumbers(source, plan)).toEqual(await encodeAndReadNumbers(source, toSingleChunk(plan)))
  }, 120_000)
})

test('the frames are the same in any order of chunks, and after ffmpeg was killed in the middle', async () => {
  const film = '-f lavfi -i mandelbrot=s=320x180:r=25,noise=alls=20:allf=t'
  const source = await fixture.make(
    'again.mp4',
    `${film} ${sound(18)} -t 18 -c:v libx264 -preset ultrafast -g 75 -pix_fmt yuv420p -c:a aac`,
  )
  const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
  const plan = planEncode({ probe, tools: fixture.tools, keys: ['h264_360', 'h264_1200'] })
  expect(plan.chunks).toHaveLength(3)
  const work = (name: string) => ({ plan, source, scratch: fixture.scratch(name), tools: fixture.tools })
  const undisturbed = work('undisturbed')
  await encodeAll(undisturbed)

  const disturbed = work('disturbed')
  for (const chunkIndex of chunkIndexes(plan).reverse()) {
    const killed = new AbortController()
    const run = encodeChunk({ ...disturbed, chunkIndex, signal: killed.signal, onProgress: () => killed.abort() })
    await expect(run).rejects.toMatchObject({ kind: 'aborted' })
    await encodeChunk({ ...disturbed, chunkIndex })
  }

  const hashes = async ({ scratch }: { scratch: string }) => {
    await packageRenditions({ plan, scratch, tools: fixture.tools })
    const files = await verifySet({ plan, scratch, tools: fixture.tools })
    const films = files.filter(({ kind }) => kind === 'mp4' || kind === 'hls_playlist').map(({ path }) => join(scratch, setFolder, path))
    return Promise.all(films.map(async (file) => (await fixture.ffmpeg('-i', file, '-map', '0', '-f', 'framemd5', '-')).stdout))
  }
  const expected = await hashes(undisturbed)
  expect(expected[0]).toMatch(/0, +\d+, +\d+/)
  expect(await hashes(disturbed)).toEqual(expected)
}, 180_000)

test('the header of each segment has the same duration as the playlist', async () => {
  const source = await fixture.make('heads.mp4', `${buildNumberedSource('30000/1001', 15)} ${sound(15)} ${x264} -g 60 -c:a aac`)
  const plan = await planSource(source)
  const work = { source, scratch: fixture.scratch('heads'), tools: fixture.tools, plan }
  await encodeAll(work)
  await packageRenditions(work)
  const files = (await verifySet(work)).filter(({ kind }) => kind === 'hls_segment')
  expect(files.length).toBeGreaterThan(8)
  for (const { path, durationSeconds } of files) {
    const segment = await open(join(work.scratch, setFolder, path))
    const head = await readSegmentHead(segment).finally(() => segment.close())
    expect([path, head?.seconds.toFixed(6)]).toEqual([path, durationSeconds?.toFixed(6)])
  }
}, 60_000)

describe('packaging rejects a chunk that does not match:', () => {
  let work: { plan: EncodePlan; source: string; scratch: string; tools: MediaFixture['tools'] }
  beforeAll(async () => {
    const source = await fixture.make('seams.mp4', `${buildNumberedSource(25, 12)} ${x264} -g 50`)
    work = { source, scratch: fixture.scratch('seams'), tools: fixture.tools, plan: await planSource(source) }
    await encodeAll(work)
  }, 60_000)

  const chunkFile = (chunk: number, name: string) => join(work.scratch, chunkFolder(chunk), 'h264_100', name)
  test.each([
    ['a chunk with another header', 'init.mp4', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('00000008free', 'latin1')])],
    ['a segment from another time', 'seg-00002.m4s', () => readFile(chunkFile(1, 'seg-00003.m4s'))],
    [
      'a segment missing from the playlist',
      'index.m3u8',
      (bytes: Buffer) => Buffer.from(`${bytes}`.replace(/#EXTINF.*\nseg-00002.m4s\n/, '')),
    ],
    ['a truncated segment', 'seg-00003.m4s', (bytes: Buffer) => bytes.subarray(0, 100)],
  ])(
    '%s',
    async (_, name, damage) => {
      const file = chunkFile(1, name)
      const bytes = await readFile(file)
      await rename(file, `${file}.kept`)
      await writeFile(file, await damage(bytes))
      await expect(packageRenditions(work)).rejects.toMatchObject({ kind: 'incomplete' })
      await rename(`${file}.kept`, file)
      await expect(packageRenditions(work)).resolves.toContain(setFolder)
    },
    60_000,
  )

  test('a plan for another ffmpeg version, or with an older plan version, is not executed', async () => {
    expect(canExecutePlan(work.plan, fixture.tools)).toBe(true)
    expect(canExecutePlan({ ...work.plan, planVersion: 1 }, fixture.tools)).toBe(false)
    expect(canExecutePlan(work.plan, { version: 'another' })).toBe(false)
  })
})
