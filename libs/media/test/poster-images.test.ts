import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makePosterImages, type PosterImageSizes, posterLimits } from '../src/index.ts'
import { type MediaFixture, openMediaFixture } from './media-fixtures.ts'

let fixture: MediaFixture
beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

async function convert(source: string, atSeconds?: number): Promise<{ poster: string; thumbnail: string; sizes: PosterImageSizes }> {
  const scratch = fixture.scratch('poster')
  const target = join(scratch, 'target')
  await mkdir(target, { recursive: true })
  const sizes = await makePosterImages({ source, atSeconds, scratch, target, tools: fixture.tools })
  return { poster: join(target, 'poster.jpg'), thumbnail: join(target, 'thumbnail.jpg'), sizes }
}

const readSize = async (file: string) =>
  (await fixture.ffprobe(file, '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0')).trim()

/** Returns the colour of a pixel as `[red, green, blue]`. */
async function readPixel(file: string, x: number, y: number): Promise<number[]> {
  const out = join(fixture.folder, 'pixel.rgb')
  await fixture.ffmpeg('-y', '-i', file, '-vf', `crop=2:2:${x}:${y},format=rgb24`, '-f', 'rawvideo', out)
  return [...(await readFile(out)).subarray(0, 3)]
}

test.each([
  ['picture.jpg', '1920x1080', 'mjpeg,1280,720', 'mjpeg,426,240'],
  ['picture.png', '600x1200', 'mjpeg,600,1200', 'mjpeg,240,480'],
  ['picture.webp', '320x180', 'mjpeg,320,180', 'mjpeg,320,180'],
  ['odd.png', '101x203', 'mjpeg,100,202', 'mjpeg,100,202'],
  ['wide.jpg', '8000x100', 'mjpeg,2880,36', 'mjpeg,960,12'],
])('%s of %s becomes a poster and a thumbnail that are not larger', async (name, size, poster, thumbnail) => {
  const source = await fixture.make(name, `-f lavfi -i testsrc2=size=${size} -frames:v 1`)
  const files = await convert(source)
  expect([await readSize(files.poster), await readSize(files.thumbnail)]).toEqual([poster, thumbnail])
  const { sizes } = files
  expect([sizes.poster, sizes.thumbnail].map(({ width, height }) => `mjpeg,${width},${height}`)).toEqual([poster, thumbnail])
})

test('transparent parts become white', async () => {
  const source = await fixture.make('clear.png', '-f lavfi -i color=c=black@0:size=64x64,format=rgba -frames:v 1')
  const { poster } = await convert(source)
  for (const value of await readPixel(poster, 10, 10)) expect(value).toBeGreaterThan(250)
})

/** Inserts an APP1 segment with an orientation and a comment after the start marker of a JPEG. */
function withExif(bytes: Buffer, orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex')
  tiff.writeUInt16BE(orientation, 18)
  const data = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff, Buffer.from('SECRET-PLACE')])
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([bytes.subarray(0, 2), head, data, bytes.subarray(2)])
}

/**
 * The top left quarter of the stored picture is red. Each row names the corner that is red in the
 * upright picture.
 */
test.each([
  [1, 'left', 'top', false],
  [2, 'right', 'top', false],
  [3, 'right', 'bottom', false],
  [4, 'left', 'bottom', false],
  [5, 'left', 'top', true],
  [6, 'right', 'top', true],
  [7, 'right', 'bottom', true],
  [8, 'left', 'bottom', true],
] as const)('orientation %i is applied and metadata is removed', async (orientation, column, row, isTurned) => {
  const plain = await fixture.make('quarter.jpg', '-f lavfi -i color=c=blue:size=320x160,drawbox=w=160:h=80:c=red:t=fill -frames:v 1')
  const source = join(fixture.folder, `turned-${orientation}.jpg`)
  await writeFile(source, withExif(await readFile(plain), orientation))
  const { poster } = await convert(source)
  const [width, height] = isTurned ? [160, 320] : [320, 160]
  expect(await readSize(poster)).toBe(`mjpeg,${width},${height}`)
  const [red = 0, , blue = 0] = await readPixel(poster, column === 'left' ? 20 : width - 20, row === 'top' ? 20 : height - 20)
  expect(red).toBeGreaterThan(200)
  expect(blue).toBeLessThan(60)
  const bytes = await readFile(poster, 'latin1')
  expect(bytes.includes('Exif') || bytes.includes('SECRET-PLACE')).toBe(false)
})

test.each(['jpg', 'png', 'webp'])('the first half of a %s file is rejected', async (extension) => {
  const whole = await fixture.make(`whole.${extension}`, '-f lavfi -i testsrc2=size=640x360 -frames:v 1')
  const bytes = await readFile(whole)
  const half = join(fixture.folder, `half.${extension}`)
  await writeFile(half, bytes.subarray(0, bytes.length / 2))
  await expect(convert(half)).rejects.toMatchObject({ name: 'InvalidSource', code: 4002 })
})

test('a file of another kind is rejected, whatever its name is', async () => {
  const gif = await fixture.make('picture.gif', '-f lavfi -i testsrc2=size=64x64 -frames:v 1')
  await expect(convert(gif)).rejects.toMatchObject({ code: 4002, message: 'this is not a JPEG, PNG or WebP picture' })
})

test('a file with too many bytes is rejected', async () => {
  const large = join(fixture.folder, 'large.jpg')
  await writeFile(large, Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(posterLimits.bytes)]))
  await expect(convert(large)).rejects.toMatchObject({ code: 4003 })
})

test('a picture with too many pixels is rejected', async () => {
  const huge = await fixture.make('huge.png', '-f lavfi -i color=c=red:size=10000x6000 -frames:v 1')
  await expect(convert(huge)).rejects.toMatchObject({ code: 4003, message: 'the picture has more than 50 million pixels' })
})

test('a frame of a video becomes the poster', async () => {
  const video = await fixture.make(
    'two-colours.mp4',
    '-f lavfi -i color=c=blue:size=640x360:duration=2 -f lavfi -i color=c=red:size=640x360:duration=2 -filter_complex [0][1]concat -c:v libx264',
  )
  const [blue, red] = [await convert(video, 0.5), await convert(video, 3)]
  expect(await readSize(blue.poster)).toBe('mjpeg,640,360')
  expect((await readPixel(blue.poster, 100, 100))[2]).toBeGreaterThan(200)
  expect((await readPixel(red.poster, 100, 100))[0]).toBeGreaterThan(200)
  await expect(convert(video, 60)).rejects.toMatchObject({ code: 4002, message: 'the video has no frame at this time' })
})
