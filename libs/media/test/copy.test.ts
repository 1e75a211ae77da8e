import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type EncodePlan, findFfmpeg, packageRenditions, planEncode, probeSource, setFolder, setLayout, verifySet } from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, sound } from './media-fixtures.ts'

let fixture: MediaFixture
beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

const card = (rate: string | number, seconds: number) => `-f lavfi -i testsrc2=s=320x180:r=${rate}:d=${seconds}`
/**
 * Returns the options for H.264 with B frames, in groups of a fixed length without references
 * across groups.
 */
const closed = (frames: number) =>
  `-c:v libx264 -preset veryfast -bf 3 -pix_fmt yuv420p -x264-params keyint=${frames}:min-keyint=${frames}:scenecut=0:open-gop=0`

async function planSource(source: string, keys?: string[]): Promise<EncodePlan> {
  const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
  return planEncode({ probe, tools: fixture.tools, ...(keys && { keys }) })
}

function copiedKeys(plan: EncodePlan): string[] {
  return plan.renditions.filter(({ video }) => video?.copied).map(({ key }) => key)
}

/** Returns bytes and checksum of each packet of the picture, in decoding order. */
async function packets(file: string): Promise<string[]> {
  const { stdout } = await fixture.ffmpeg('-i', file, '-map', '0:v:0', '-c', 'copy', '-f', 'framecrc', '-')
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('0,'))
    .map((line) => line.split(',').slice(4, 6).join().replaceAll(' ', ''))
}

async function times(file: string): Promise<{ all: number[]; keys: number[] }> {
  const lines = await fixture.ffprobe(file, '-select_streams', 'v', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0')
  const read = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ time: Number.parseFloat(line), isKey: line.includes(',K') }))
  const sorted = (list: typeof read) => list.map(({ time }) => time).sort((a, b) => a - b)
  return { all: sorted(read), keys: sorted(read.filter(({ isKey }) => isKey)) }
}

/** Older versions encode the pictures that newer ones copy. */
const { canCopyPictures } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
const COPIED = canCopyPictures ? ['h264_1200'] : []

describe('the largest rendition copies the video of a source that needs no change:', () => {
  test.each([
    ['25 frames per second, a key frame each second', 'seconds.mp4', `${card(25, 16)} ${sound(16)} ${closed(25)} -c:a aac`],
    [
      '29.97 frames per second, audio that ends before the video',
      'ntsc.mp4',
      `${card('30000/1001', 16)} ${sound(15.9)} ${closed(60)} -c:a aac`,
    ],
    ['a fragmented MP4 without audio', 'fragments.mp4', `${card(30, 16)} ${closed(60)} -movflags +frag_keyframe+empty_moov`],
    ['Matroska with time stamps in milliseconds', 'film.mkv', `${card(30, 16)} ${closed(30)}`],
    ['a source too short for two chunks', 'short.mp4', `${card(25, 4.5)} ${sound(4.5)} ${closed(50)} -c:a aac`],
  ])(
    '%s',
    async (_, name, line) => {
      const source = await fixture.make(name, line)
      const work = {
        source,
        scratch: fixture.scratch('copy'),
        tools: fixture.tools,
        plan: await planSource(source, ['h264_100', 'h264_800', 'h264_1200']),
      }
      expect(work.plan.chunks).toHaveLength(name === 'short.mp4' ? 1 : 3)
      expect(copiedKeys(work.plan)).toEqual(COPIED)
      await encodeAll(work)
      await packageRenditions(work)
      await verifySet(work)
      if (!canCopyPictures) return
      const set = join(work.scratch, setFolder)
      const own = await packets(source)
      expect(own).toHaveLength(work.plan.video?.frames ?? 0)
      for (const path of [setLayout.mp4('h264_1200'), setLayout.playlist('h264_1200')]) expect(await packets(join(set, path))).toEqual(own)
      const [copied, encoded] = [await times(join(set, setLayout.mp4('h264_1200'))), await times(join(set, setLayout.mp4('h264_800')))]
      // Times of a copied frame are those of the constant rate, to the nearest tick of the source.
      // Key frames start a segment and match exactly.
      expect(Math.max(...copied.all.map((time, index) => Math.abs(time - (encoded.all[index] ?? -1))))).toBeLessThan(0.0006)
      expect(copied.keys).toEqual(expect.arrayContaining(encoded.keys))
      const { stderr } = await fixture.ffmpeg('-xerror', '-i', join(set, setLayout.master), '-map', '0', '-f', 'null', '-')
      expect(stderr).toBe('')
    },
    120_000,
  )
})

describe('a source is encoded if it has', () => {
  const x264 = '-c:v libx264 -preset veryfast -pix_fmt yuv420p'
  test.each([
    ['open groups', 'open.mp4', `${card(25, 16)} ${x264} -bf 3 -x264-params keyint=50:min-keyint=50:scenecut=0:open-gop=1:bframes=3`],
    ['key frames at other times', 'elsewhere.mp4', `${card(25, 16)} ${closed(40).replace('-bf 3', '-bf 0')}`],
    [
      'a bit rate above the limit',
      'fat.mp4',
      `${card(25, 16)} ${closed(50)} -b:v 2M -minrate 2M -maxrate 2M -bufsize 1M -x264-params nal-hrd=cbr:keyint=50:min-keyint=50:scenecut=0`,
    ],
    [
      'two seconds above the bit rate limit',
      'burst.mp4',
      `-f lavfi -i color=gray:s=320x180:r=25:d=16,noise=alls=60:allf=t:enable=between(t\\,8\\,10) ${closed(50)} -qp 20`,
    ],
    ['a variable frame rate', 'changing.mp4', `${card(25, 16)} -vf select=not(eq(mod(n\\,7)\\,3)) -fps_mode vfr ${closed(25)}`],
    ['a missing frame', 'hole.mp4', `${card(25, 16)} -vf select=not(eq(n\\,120)) -fps_mode vfr ${closed(50)}`],
    ['audio longer than the video', 'longer.mp4', `${card(25, 16)} ${sound(18)} ${closed(50)} -c:a aac`],
    ['video that starts after the audio', 'late.mkv', `-itsoffset 0.5 ${card(25, 16)} ${sound(16)} ${closed(50)} -c:a aac`],
    ['ten bits per sample', 'ten.mp4', `${card(25, 16)} ${closed(50).replace('yuv420p', 'yuv420p10le')}`],
    ['full range', 'full.mp4', `${card(25, 16)} -vf scale=out_range=pc -color_range pc ${closed(50)}`],
    ['non-square pixels', 'wide.mp4', `${card(25, 16)} -vf setsar=4/3 ${closed(50)}`],
    ['interlaced fields', 'fields.mp4', `${card(50, 16)} -vf interlace -flags +ilme+ildct ${closed(50)}`],
    ['another codec', 'other.mp4', `${card(25, 16)} -c:v mpeg4 -g 50 -bf 0`],
    ['parameter sets among the frames', 'sets.mkv', `${card(25, 16)} ${closed(50)} -bsf:v dump_extra`],
    ['a container without exact seeking', 'film.ts', `${card(25, 16)} ${closed(50)}`],
  ])(
    '%s',
    async (_, name, line) => {
      const probe = await probeSource({ source: await fixture.make(name, line), scratch: fixture.scratch('probe'), tools: fixture.tools })
      expect(probe.video).toBeDefined()
      expect(copiedKeys(planEncode({ probe, tools: fixture.tools }))).toEqual([])
    },
    60_000,
  )

  test('a frame that the decoder reports as damaged', async () => {
    const source = await fixture.make('hurt.mp4', `${card(25, 16)} ${closed(50)}`)
    const bytes = await readFile(source)
    // The media box is at the start of the file, so this position is in a frame of the second
    // chunk.
    bytes.fill(0x55, Math.floor(bytes.length * 0.45), Math.floor(bytes.length * 0.45) + 400)
    await writeFile(source, bytes)
    const work = { source, scratch: fixture.scratch('hurt'), tools: fixture.tools }
    const probe = await probeSource(work)
    const keys = ['h264_100', 'h264_1200']
    const plan = planEncode({ probe, tools: fixture.tools, keys })
    expect(copiedKeys(plan)).toEqual(COPIED)
    if (canCopyPictures) await expect(encodeAll({ ...work, plan })).rejects.toMatchObject({ kind: 'unclean' })
    const encoded = planEncode({ probe, tools: fixture.tools, keys, canCopyPictures: false })
    expect(copiedKeys(encoded)).toEqual([])
    await encodeAll({ ...work, plan: encoded })
  }, 60_000)

  test('frames before its start that an edit list hides', async () => {
    const plain = await fixture.make('plain.mp4', `${card(25, 16)} ${sound(16)} ${closed(50)} -c:a aac`)
    expect(copiedKeys(await planSource(plain))).toEqual(COPIED)
    const source = await fixture.make('cut.mp4', `-ss 3 -i ${plain} -c copy`)
    expect(copiedKeys(await planSource(source))).toEqual([])
  }, 60_000)

  test('only one planned rendition', async () => {
    const source = await fixture.make('alone.mp4', `${card(25, 8)} ${closed(50)}`)
    const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
    expect(copiedKeys(planEncode({ probe, tools: fixture.tools }))).toEqual(COPIED)
    expect(copiedKeys(planEncode({ probe, tools: fixture.tools, keys: ['h264_1200'] }))).toEqual([])
  }, 60_000)

  test('a larger picture than the rendition', async () => {
    const source = await fixture.make('large.mp4', `-f lavfi -i color=gray:s=640x480:r=25:d=6 ${closed(50)}`)
    expect(copiedKeys(await planSource(source, ['h264_100', 'h264_250']))).toEqual([])
    expect(copiedKeys(await planSource(source))).toEqual(COPIED)
  }, 60_000)
})
