import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setLayout } from '../src/index.ts'
import { type EncodeResult, type MediaFixture, openMediaFixture, quick, sound } from './media-fixtures.ts'

let fixture: MediaFixture
let encoded: EncodeResult

/**
 * The source has 56 s. The first 32 s fade from black to grey without any detail. The other 24 s
 * have detail, and the last 8 s of them are blurred.
 */
beforeAll(async () => {
  fixture = await openMediaFixture()
  const plain = "color=black:s=320x180:r=10:d=32,geq=lum='2+3*T':cb=128:cr=128"
  const scene = "testsrc2=s=320x180:r=10:d=24,gblur=sigma=20:enable='gte(t,16)'"
  const graph = `-f lavfi -i ${plain} -f lavfi -i ${scene} ${sound(56)} -filter_complex [0:v][1:v]concat=n=2:v=1[v] -map [v] -map 2:a`
  encoded = await fixture.encode(await fixture.make('dark.mp4', `${graph} ${quick}`), ['h264_100', 'h264_250'])
}, 120_000)
afterAll(() => fixture.close())

/** Returns the brightness of each pixel of one frame of a file, or of a part of it. */
async function readBrightness(file: string, filter: string, size: string): Promise<Uint8Array> {
  const raw = join(fixture.folder, 'grey.raw')
  await fixture.ffmpeg('-y', '-i', file, '-vf', `${filter}scale=${size},format=gray`, '-frames:v', '1', '-f', 'rawvideo', raw)
  return readFile(raw)
}

function mean(values: Uint8Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

test('a storyboard tile shows the frame of the video at its time', async () => {
  const cues = (await readFile(join(encoded.set, setLayout.storyboard), 'utf8')).split('\n\n').slice(1)
  expect(cues).toHaveLength(28)
  expect(cues[0]).toBe('00:00:00.000 --> 00:00:02.000\nstoryboard-1.jpg#xywh=0,0,160,90')
  expect(cues[27]).toMatch(/^00:00:54.000 --> 00:00:56.\d{3}\nstoryboard-2.jpg#xywh=320,0,160,90$/m)
  // The grey level of the plain part identifies the second of a tile.
  for (const [tile, x, y] of [
    [4, 640, 0],
    [12, 320, 180],
  ] as const) {
    const grey = await readBrightness(join(encoded.set, setLayout.image('storyboard-1')), `crop=160:90:${x}:${y},`, '160:90')
    const luma = 2 + 3 * tile * 2
    expect(Math.abs(mean(grey) - ((Math.max(luma, 16) - 16) * 255) / 219)).toBeLessThan(6)
  }
}, 30_000)

test('poster and thumbnail show the nearest frame to the middle that is neither plain nor blurred', async () => {
  const first = await readBrightness(join(encoded.set, setLayout.mp4('h264_250')), 'select=eq(n\\,320),', '64:36')
  for (const key of ['poster', 'thumbnail']) {
    const shown = await readBrightness(join(encoded.set, setLayout.image(key)), '', '64:36')
    expect(mean(Uint8Array.from(shown, (value, at) => Math.abs(value - (first[at] ?? 0))))).toBeLessThan(6)
  }
}, 30_000)

test('the preview has 24 frames and is small', async () => {
  const file = join(encoded.set, setLayout.preview)
  const entries = ['-count_frames', '-show_entries', 'stream=width,height,nb_read_frames:format=duration', '-of', 'csv=p=0']
  const [stream, seconds] = (await fixture.ffprobe(file, ...entries)).trim().split('\n')
  expect(stream).toBe('242,136,24')
  expect(Number(seconds)).toBeCloseTo(2.4, 0)
  expect((await readFile(file)).length).toBeLessThan(500_000)
})

test('the audio file is an M4A of the same packets', async () => {
  const hash = async (name: string) =>
    (await fixture.ffmpeg('-i', join(encoded.set, name), '-map', '0:a', '-c', 'copy', '-f', 'md5', '-')).stdout
  const streams = await fixture.ffprobe(join(encoded.set, setLayout.sound), '-show_entries', 'stream=codec_name', '-of', 'csv=p=0')
  expect(streams.trim()).toBe('aac')
  expect(await hash(setLayout.sound)).toBe(await hash('h264_250.mp4'))
})
