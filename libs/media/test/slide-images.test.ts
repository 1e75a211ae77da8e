import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { makeSlideImages, type SlidePicture } from '../src/index.ts'
import { type MediaFixture, openMediaFixture } from './media-fixtures.ts'

let fixture: MediaFixture
beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

async function createScratch(name: string): Promise<string> {
  const scratch = fixture.scratch(name)
  await mkdir(join(scratch, 'slides'), { recursive: true })
  return scratch
}

async function picture(scratch: string, number: number, width: number, height: number, rgba: number[]): Promise<SlidePicture> {
  const raw = `page-${number}.raw`
  await writeFile(join(scratch, raw), Buffer.alloc(width * height * 4, Buffer.from(rgba)), { mode: 0o644 })
  return { raw, width, height, image: `slide-${number}.jpg`, thumbnail: `thumb-${number}.jpg` }
}

test('pictures of different sizes become a large and a small JPEG each, in their colour', async () => {
  const scratch = await createScratch('slides')
  const pictures = [
    await picture(scratch, 1, 640, 360, [255, 0, 0, 255]),
    await picture(scratch, 2, 101, 203, [0, 0, 255, 255]),
    await picture(scratch, 3, 16, 1920, [255, 255, 255, 255]),
  ]
  await makeSlideImages({ pictures, thumbnailSide: 320, scratch, target: join(scratch, 'slides'), tools: fixture.tools })
  const sizes = await Promise.all(
    pictures.flatMap(({ image, thumbnail }) =>
      [image, thumbnail].map((file) =>
        fixture.ffprobe(join(scratch, 'slides', file), '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0'),
      ),
    ),
  )
  expect(sizes.map((size) => size.trim())).toEqual([
    'mjpeg,640,360',
    'mjpeg,320,180',
    'mjpeg,101,203',
    'mjpeg,101,203',
    'mjpeg,16,1920',
    'mjpeg,3,320',
  ])
  for (const [file, colour] of [
    ['slide-1.jpg', [255, 0, 0]],
    ['thumb-2.jpg', [0, 0, 255]],
    ['thumb-3.jpg', [255, 255, 255]],
  ] as const) {
    const out = join(scratch, 'out.rgb')
    await fixture.ffmpeg('-y', '-i', join(scratch, 'slides', file), '-f', 'rawvideo', '-pix_fmt', 'rgb24', out)
    const rgb = [...(await readFile(out)).subarray(0, 3)]
    for (const [index, value] of rgb.entries()) expect(Math.abs(value - (colour[index] ?? 0))).toBeLessThanOrEqual(4)
  }
})

describe('a picture', () => {
  const jpeg = `printf '\\xff\\xd8\\xff\\xd9'`
  const make = async (name: string, body: string) => {
    const scratch = await createScratch(name)
    const pictures = [await picture(scratch, 1, 16, 16, [0, 0, 0, 255])]
    const target = join(scratch, 'slides')
    await makeSlideImages({ pictures, thumbnailSide: 8, scratch, target, tools: await fixture.fake(name, body) })
    return readdir(target)
  }

  test('is in the target folder if it is complete', async () => {
    await expect(make('good', `${jpeg} > made/slide-1.jpg; ${jpeg} > made/thumb-1.jpg`)).resolves.toEqual(['slide-1.jpg', 'thumb-1.jpg'])
  })
  test.each([
    ['missing', 'exit 0'],
    ['truncated', `printf '\\xff\\xd8\\xff\\x00' > made/slide-1.jpg; ${jpeg} > made/thumb-1.jpg`],
    ['a hard link to another', `${jpeg} > made/slide-1.jpg; ln made/slide-1.jpg made/thumb-1.jpg`],
  ])('is rejected if it is %s', async (name, body) => {
    await expect(make(name.replaceAll(' ', '-'), body)).rejects.toMatchObject({ kind: 'incomplete' })
  })
})

test('incomplete pixels are rejected', async () => {
  const scratch = await createScratch('short')
  const pictures = [await picture(scratch, 1, 64, 64, [0, 0, 0, 255])]
  await writeFile(join(scratch, 'page-1.raw'), Buffer.alloc(100), { mode: 0o644 })
  await expect(
    makeSlideImages({ pictures, thumbnailSide: 8, scratch, target: join(scratch, 'slides'), tools: fixture.tools }),
  ).rejects.toMatchObject({ name: 'EncodeError' })
})
