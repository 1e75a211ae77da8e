// Faults: C9
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { packageRenditions, planEncode, probeSource, setFolder, verifySet } from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, picture, quick, sound } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

describe('a set that differs from the plan', () => {
  let work: Parameters<typeof verifySet>[0]
  let set: string
  beforeAll(async () => {
    const source = await fixture.make('checked.mp4', `${picture('320x240', 25, 5)} ${sound(5)} ${quick}`)
    const scratch = fixture.scratch('checked')
    const probe = await probeSource({ source, scratch, tools: fixture.tools })
    const plan = planEncode({ probe, tools: fixture.tools, keys: ['h264_100'] })
    await encodeAll({ plan, source, scratch, tools: fixture.tools })
    work = { plan, scratch, tools: fixture.tools }
    set = join(scratch, setFolder)
  }, 60_000)

  // Replaces the file: the old one is a hard link to the segment that the encode left.
  const replace = async (path: string, bytes: Buffer | string) => {
    await rm(join(set, path))
    await writeFile(join(set, path), bytes)
  }
  const truncateFile = async (path: string) => {
    const bytes = await readFile(join(set, path))
    await replace(path, bytes.subarray(0, Math.floor(bytes.length * 0.7)))
  }
  const remux = async (...options: string[]) => {
    const file = join(fixture.folder, 'remuxed.mp4')
    await fixture.ffmpeg('-y', '-i', join(set, 'h264_100.mp4'), '-c', 'copy', ...options, file)
    await replace('h264_100.mp4', await readFile(file))
  }
  test.each([
    ['a truncated MP4', () => truncateFile('h264_100.mp4')],
    ['an empty MP4', () => replace('h264_100.mp4', '')],
    ['a truncated segment', () => truncateFile('hls/h264_100/seg-00002.m4s')],
    ['a truncated image', () => truncateFile('images/poster.jpg')],
    ['a truncated sprite', () => truncateFile('images/storyboard-1.jpg')],
    ['a truncated preview', () => truncateFile('images/preview.gif')],
    ['a truncated audio file', () => truncateFile('sound.m4a')],
    ['an MP4 with audio only', () => remux('-map', '0:a', '-movflags', '+faststart')],
    ['an MP4 with moov at the end', () => remux()],
  ])(
    '%s is detected',
    async (_, damage) => {
      await packageRenditions(work)
      await expect(verifySet(work)).resolves.toHaveLength(1 + 2 + 2 + 4 + 1 + 1 + 5 + 3)
      await damage()
      await expect(verifySet(work)).rejects.toMatchObject({ name: 'EncodeError', kind: 'incomplete' })
    },
    30_000,
  )
})

test('an encoder that reports success but writes only half is detected', async () => {
  const source = await fixture.make('truncated.mp4', `${picture('320x240', 25, 8)} ${sound(8)} ${quick}`)
  const scratch = fixture.scratch('truncated')
  const plan = planEncode({ probe: await probeSource({ source, scratch, tools: fixture.tools }), tools: fixture.tools, keys: ['h264_100'] })
  const truncatingTools = await fixture.fake('truncating-ffmpeg', `REAL "\${@/end_frame=100/end_frame=50}"; exit 0`)
  await encodeAll({ plan, source, scratch, tools: truncatingTools })
  await expect(
    packageRenditions({ plan, scratch, tools: fixture.tools }).then(() => verifySet({ plan, scratch, tools: fixture.tools })),
  ).rejects.toMatchObject({
    kind: 'incomplete',
  })
}, 60_000)
