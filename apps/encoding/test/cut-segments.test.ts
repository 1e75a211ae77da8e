import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { audioChunk, type EncodePlan, type FfmpegTools, findFfmpeg, planEncode, probeSource } from '@vitascope/media'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import type { StoredFile } from '../src/work/task.ts'
import { encodeTask } from '../src/worker/encode-task.ts'
import { makeFakeFfmpeg, makeVideo } from './fixture.ts'

let folder: string
let source: string
let storage: ObjectStorage
let real: FfmpegTools
let plan: EncodePlan
let prefixes = 0

beforeAll(async () => {
  // The locked-up user reaches what lies here.
  folder = await mkdtemp(join(tmpdir(), 'vitascope-encoding-'))
  await chmod(folder, 0o755)
  storage = await openFileStorage({ root: join(folder, 'storage') })
  real = await findFfmpeg()
  source = await makeVideo(join(folder, 'source.mp4'), 4)
  const probe = await probeSource({ source, scratch: join(folder, 'probe'), tools: real })
  plan = planEncode({ probe, tools: real, keys: ['h264_100', 'h264_250'] })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Encodes a chunk by an ffmpeg after whose run `after` is done, as when a disk was full, which ffmpeg does not notice everywhere. */
async function encode(chunk: number, after: string) {
  const place = join(folder, `fake-${prefixes}`)
  // What the script starts lies where it may be reached when it is locked up.
  const fake = await makeFakeFfmpeg(place, `${place}/lib/ffmpeg "$@" || exit 1\n${after}\nexit 0`)
  const workPrefix = `work/${prefixes++}`
  const scratch = join(folder, `scratch-${prefixes}`)
  await mkdir(scratch, { mode: 0o755 })
  const told: StoredFile[] = []
  const run = encodeTask(
    {
      storage,
      tools: { ...real, ffmpeg: fake },
      office: undefined,
      scratch,
      stallSeconds: 60,
      speed: { set: () => {} } as never,
      getSource: async () => source,
      takeRoom: async () => {},
      onFiles: async (files) => void told.push(...files),
      onDone: () => {},
      signal: new AbortController().signal,
    },
    { plan, chunk, workPrefix, source: { object: 'sources/1', bytes: 1, sha256: '' } },
  )
  const stored = async () => {
    const names: string[] = []
    for await (const { name } of storage.list(`${workPrefix}/`)) names.push(name)
    return names
  }
  return { run, stored }
}

test('a chunk that is whole is stored', async () => {
  const { run, stored } = await encode(0, 'true')
  await run
  expect(await stored()).toEqual(expect.arrayContaining([expect.stringMatching(/h264_100\/seg-00001\.m4s$/)]))
})

test.each([
  ['an empty segment', ': > chunk-00000/h264_250/seg-00001.m4s'],
  ['a segment that was cut', 'head -c 3000 chunk-00000/h264_250/seg-00001.m4s > cut && cat cut > chunk-00000/h264_250/seg-00001.m4s'],
  ['an empty head', ': > chunk-00000/h264_250/init.mp4'],
  ['a segment too few', 'rm chunk-00000/h264_250/seg-00001.m4s'],
  ['an empty list', ': > chunk-00000/h264_250/index.m3u8'],
  ['a list that was cut', 'grep -v ENDLIST chunk-00000/h264_250/index.m3u8 > cut; cat cut > chunk-00000/h264_250/index.m3u8'],
])('of a chunk with %s nothing of that rendition is stored', async (_, after) => {
  const { run, stored } = await encode(0, after)
  await expect(run).rejects.toMatchObject({ kind: 'incomplete' })
  expect((await stored()).filter((name) => name.includes('h264_250/'))).toEqual([])
})

test('sound that was cut is not stored', async () => {
  const chunk = audioChunk(plan)
  const place = `chunk-${String(chunk).padStart(5, '0')}`
  const { run } = await encode(chunk, `for file in ${place}/*/seg-00001.m4s; do head -c 500 $file > cut; cat cut > $file; done`)
  await expect(run).rejects.toMatchObject({ kind: 'incomplete' })
})
