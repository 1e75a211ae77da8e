// Faults: C9
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { audioChunk, type EncodePlan, type FfmpegTools, findFfmpeg, planEncode, probeSource } from '@vitascope/media'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import type { StoredFile } from '../src/task/task.ts'
import { encodeTask } from '../src/worker/encode-task.ts'
import { makeFakeFfmpeg, makeVideo } from './fixture.ts'

let folder: string
let source: string
let storage: ObjectStorage
let real: FfmpegTools
let plan: EncodePlan
let prefixes = 0

beforeAll(async () => {
  // The sandboxed user can read this folder.
  folder = await mkdtemp(join(tmpdir(), 'vitascope-encoding-'))
  await chmod(folder, 0o755)
  storage = await openFileStorage({ root: join(folder, 'storage') })
  real = await findFfmpeg()
  source = await makeVideo(join(folder, 'source.mp4'), 4)
  const probe = await probeSource({ source, scratch: join(folder, 'probe'), tools: real })
  plan = planEncode({ probe, tools: real, keys: ['h264_100', 'h264_250'] })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/**
 * Encodes a chunk and runs `after` when ffmpeg ends. It simulates a full disk, which ffmpeg does
 * not always report.
 */
async function encode(chunk: number, after: string) {
  const ffmpegFolder = join(folder, `fake-${prefixes}`)
  // The sandboxed script can only start programs of this folder.
  const fake = await makeFakeFfmpeg(ffmpegFolder, `${ffmpegFolder}/lib/ffmpeg "$@" || exit 1\n${after}\nexit 0`)
  const workPrefix = `work/${prefixes++}`
  const scratch = join(folder, `scratch-${prefixes}`)
  await mkdir(scratch, { mode: 0o755 })
  const received: StoredFile[] = []
  const run = encodeTask(
    {
      storage,
      tools: { ...real, ffmpeg: fake },
      office: undefined,
      scratch,
      stallSeconds: 60,
      speed: { set: () => {} } as never,
      getSource: async () => source,
      reserveDisk: async () => {},
      reportFiles: async (files) => void received.push(...files),
      setProgress: () => {},
      signal: new AbortController().signal,
    },
    { kind: 'encode', plan, chunk, workPrefix, source: { object: 'sources/1', bytes: 1, sha256: '' } },
  )
  const stored = async () => {
    const names: string[] = []
    for await (const { name } of storage.list(`${workPrefix}/`)) names.push(name)
    return names
  }
  return { run, stored }
}

test('a complete chunk is stored', async () => {
  const { run, stored } = await encode(0, 'true')
  await run
  expect(await stored()).toEqual(expect.arrayContaining([expect.stringMatching(/h264_100\/seg-00001\.m4s$/)]))
})

test.each([
  ['an empty segment', ': > chunk-00000/h264_250/seg-00001.m4s'],
  ['a truncated segment', 'cd chunk-00000/h264_250; head -c 3000 seg-00001.m4s > cut && cat cut > seg-00001.m4s'],
  ['an empty init segment', ': > chunk-00000/h264_250/init.mp4'],
  ['a missing segment', 'rm chunk-00000/h264_250/seg-00001.m4s'],
  ['an empty playlist', ': > chunk-00000/h264_250/index.m3u8'],
  ['a truncated playlist', 'cd chunk-00000/h264_250; grep -v ENDLIST index.m3u8 > cut; cat cut > index.m3u8'],
])('a rendition with %s is not stored', async (_, after) => {
  const { run, stored } = await encode(0, after)
  await expect(run).rejects.toMatchObject({ kind: 'incomplete' })
  expect((await stored()).filter((name) => name.includes('h264_250/'))).toEqual([])
})

test('truncated audio is not stored', async () => {
  const chunk = audioChunk(plan)
  const chunkName = `chunk-${String(chunk).padStart(5, '0')}`
  const { run } = await encode(chunk, `for file in ${chunkName}/*/seg-00001.m4s; do head -c 500 $file > cut; cat cut > $file; done`)
  await expect(run).rejects.toMatchObject({ kind: 'incomplete' })
})
