import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { packageRenditions, planEncode, probeSource, setFolder, verifySet } from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

/** Renditions whose macroblocks per row are not a multiple of eight: 426 and 854 pixels wide. */
const keys = ['h264_250', 'h264_800']

test('frames do not depend on the previous content of allocated memory', async () => {
  const noise = '-f lavfi -i color=gray:s=1280x720:r=30:d=2,noise=alls=40:allf=t -c:v libx264 -preset ultrafast -pix_fmt yuv420p'
  const source = await fixture.make('noise.mp4', noise)
  const plan = planEncode({
    probe: await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools }),
    tools: fixture.tools,
    keys,
  })
  const frameHashesWith = async (filling: number) => {
    // The allocator of glibc fills allocated and freed memory with a pattern.
    const tools = await fixture.fake(`filled-${filling}`, `MALLOC_PERTURB_=${filling} exec REAL "$@"`)
    const scratch = fixture.scratch('filled')
    await encodeAll({ plan, source, scratch, tools })
    await packageRenditions({ plan, scratch, tools: fixture.tools })
    await verifySet({ plan, scratch, tools: fixture.tools })
    const runs = keys.map((key) => fixture.ffmpeg('-i', join(scratch, setFolder, `${key}.mp4`), '-map', '0:v', '-f', 'framemd5', '-'))
    return (await Promise.all(runs)).map(({ stdout }) => stdout)
  }
  const hashes = await frameHashesWith(1)
  expect(hashes.map((list) => list.match(/^\d/gm)?.length)).toEqual([60, 60])
  expect(await frameHashesWith(85)).toEqual(hashes)
}, 60_000)
