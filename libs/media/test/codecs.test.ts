import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  codecName,
  type EncodePlan,
  packageRenditions,
  planEncode,
  probeSource,
  type Rung,
  setFolder,
  setLayout,
  verifySet,
} from '../src/index.ts'
import { encodeAll, type MediaFixture, openMediaFixture, sound } from './media-fixtures.ts'

let fixture: MediaFixture
let source: string

beforeAll(async () => {
  fixture = await openMediaFixture()
  source = await fixture.make(
    'noisy.mp4',
    `-f lavfi -i testsrc2=s=320x180:r=25:d=13,noise=alls=60:allf=t ${sound(13)} -c:v libx264 -preset ultrafast -qp 20 -g 25 -pix_fmt yuv420p -c:a aac`,
  )
}, 60_000)
afterAll(() => fixture.close())

const hevc: Rung = { key: 'hevc_200', label: 200, shortSide: 180, audioKbps: 64, profile: 'high', codec: 'hevc' }
const av1: Rung = { ...hevc, key: 'av1_200', codec: 'av1' }

async function encode(plan: EncodePlan) {
  const work = { source, scratch: fixture.scratch('codec'), tools: fixture.tools, plan }
  await encodeAll(work)
  await packageRenditions(work)
  return { files: await verifySet(work), set: join(work.scratch, setFolder) }
}

test.each([
  [hevc.key, hevc, 'hevc', 'hvc1', /^hvc1\.1\.6\.L60\.90$/],
  [av1.key, av1, 'av1', 'av01', /^av01\.0\.00M\.08$/],
] as const)(
  '%s as the single rendition: chunks match, groups are those of H.264, and the bit rate is within the limit',
  async (_, rung, codec, tag, codecPattern) => {
    const probe = await probeSource({ source, scratch: fixture.scratch('probe'), tools: fixture.tools })
    const plan = planEncode({ probe, tools: fixture.tools, single: rung })
    expect(plan.chunks.length).toBeGreaterThan(1)
    expect(plan.video).toEqual(planEncode({ probe, tools: fixture.tools }).video)
    const { files, set } = await encode(plan)
    expect(files.filter(({ kind }) => kind === 'image')).toEqual([])
    const mp4 = join(set, setLayout.mp4(rung.key))
    const entries = ['-select_streams', 'v', '-show_entries', 'stream=codec_name,codec_tag_string,width,height', '-of', 'csv=p=0']
    expect((await fixture.ffprobe(mp4, ...entries)).trim()).toBe(`${codec},${tag},320,180`)
    const packets = await fixture.ffprobe(mp4, '-select_streams', 'v', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0')
    const keys = packets.split('\n').filter((line) => /,K/.test(line))
    expect(keys.map((line) => Number(line.split(',')[0]))).toEqual([0, 2, 4, 6, 8, 10, 12])
    const [file] = files.filter(({ kind }) => kind === 'mp4')
    expect((file?.bitrate ?? 0) / 1000).toBeLessThanOrEqual(rung.label * 1.1)
    const name = codecName(await readFile(join(set, setLayout.hlsFolder, rung.key, 'init.mp4')))
    expect(name).toMatch(codecPattern)
    expect(await readFile(join(set, setLayout.master), 'utf8')).toContain(`CODECS="${name},mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=25.000`)
    const { stderr } = await fixture.ffmpeg('-xerror', '-i', join(set, setLayout.master), '-map', '0', '-f', 'null', '-')
    expect(stderr).toBe('')
    const repeated = await encode(plan)
    expect(repeated.files).toEqual(files)
  },
  240_000,
)
