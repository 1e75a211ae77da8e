// Faults: S13
import { execFile } from 'node:child_process'
import { access, chmod, cp, link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { chunkKeys, type EncodePlan, encodeChunk, type FfmpegTools, findFfmpeg, planEncode, probeSource } from '@vitascope/media'
import { type ObjectStorage, openFileStorage, openS3Storage } from '@vitascope/storage'
import { s3Path, startS3, waitFor } from '@vitascope/testing'
import type { StoredFile } from '../src/task/task.ts'
import { encodeTask } from '../src/worker/encode-task.ts'
import { streamSegmentsWhile } from '../src/worker/stream-segments.ts'
import type { TaskWork } from '../src/worker/task-work.ts'
import { makeFakeFfmpeg, makeVideo } from './fixture.ts'

// A compromised ffmpeg plants links in its segment folder while the segments are stored. The test
// plants them because the sandbox prevents the tool from it.

const KEY = 'h264_100'
const SEGMENTS = `chunk-00000/${KEY}`
const stores: [string, () => Promise<{ storage: ObjectStorage; close: () => Promise<void> }>][] = [
  ['the files store', async () => ({ storage: await openFileStorage({ root: join(folder, `storage-${runs}`) }), close: async () => {} })],
]
if (s3Path() !== undefined) {
  stores.push([
    'the S3 store',
    async () => {
      const server = await startS3()
      return { storage: openS3Storage(server), close: () => server.stop() }
    },
  ])
}

let folder: string
let source: string
let real: FfmpegTools
let plan: EncodePlan
/** Scratch folder of an undisturbed run. */
let encoded: string
let runs = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-planted-'))
  await chmod(folder, 0o755)
  real = await findFfmpeg()
  source = await makeVideo(join(folder, 'source.mp4'), 4)
  plan = planEncode({ probe: await probeSource({ source, scratch: join(folder, 'probe'), tools: real }), tools: real, keys: [KEY] })
  encoded = join(folder, 'encoded')
  await encodeChunk({ plan, chunkIndex: 0, source, scratch: encoded, tools: real })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Attack {
  work: TaskWork
  scratch: string
  /** Folder with valid files outside of the tool's folder. */
  outside: string
  reported: StoredFile[]
}

async function prepareAttack(storage: ObjectStorage, ffmpeg = real.ffmpeg): Promise<Attack> {
  const scratch = join(folder, `scratch-${runs}`)
  const outside = join(folder, `outside-${runs++}`)
  await mkdir(scratch)
  await mkdir(outside)
  const received: StoredFile[] = []
  const work: TaskWork = {
    storage,
    tools: { ...real, ffmpeg },
    office: undefined,
    scratch,
    stallSeconds: 60,
    speed: { set: () => {} } as never,
    getSource: async () => source,
    reserveDisk: async () => {},
    reportFiles: async (files) => void received.push(...files),
    setProgress: () => {},
    signal: new AbortController().signal,
  }
  return { work, scratch, outside, reported: received }
}

/**
 * Ways to replace the first segment, so that a read would return an external file with the expected
 * bytes and a mark, or would block.
 */
const plants: [string, (attack: Attack) => Promise<unknown>][] = [
  ['a symbolic link', ({ scratch, outside }) => exchangeSegment(scratch, (path) => symlink(join(outside, 'seg-00001.m4s'), path))],
  ['a second name', ({ scratch, outside }) => exchangeSegment(scratch, (path) => link(join(outside, 'seg-00001.m4s'), path))],
  ['a FIFO', ({ scratch }) => exchangeSegment(scratch, (path) => promisify(execFile)('mkfifo', [path]))],
  [
    'a folder exchanged for a link',
    async ({ scratch, outside }) => {
      await rename(join(scratch, SEGMENTS), join(scratch, `${SEGMENTS}-gone`))
      await symlink(outside, join(scratch, SEGMENTS))
    },
  ],
]

async function exchangeSegment(scratch: string, plant: (path: string) => Promise<unknown>): Promise<void> {
  const path = join(scratch, SEGMENTS, 'seg-00001.m4s')
  await rm(path, { force: true })
  await plant(path)
}

/** Copies a valid chunk to a folder that the tool must not read. A box at its end identifies it. */
async function prepareOutside({ outside }: Attack): Promise<void> {
  await cp(join(encoded, SEGMENTS), outside, { recursive: true })
  const secret = Buffer.from('\0\0\0\x12freea secret!!', 'latin1')
  const path = join(outside, 'seg-00001.m4s')
  await writeFile(path, Buffer.concat([await readFile(path), secret]))
}

async function expectNoSecret(storage: ObjectStorage, prefix: string, { outside }: Attack): Promise<void> {
  for await (const { name } of storage.list(prefix)) {
    expect([name, (await buffer((await storage.open(name)).stream)).includes('a secret!!')]).toEqual([name, false])
  }
  expect((await readdir(outside)).filter((name) => name === 'seg-00001.m4s')).toHaveLength(1)
}

const attacks = stores.flatMap(([store, open]) => plants.map(([title, plant]) => [title, store, plant, open] as const))
let close: () => Promise<void> = async () => {}
afterEach(() => close())

test.each(attacks)(
  'segments are not read through %s while a chunk is encoded, with %s',
  async (_what, _store, plant, open) => {
    const opened = await open()
    close = opened.close
    const { storage } = opened
    const attack = await prepareAttack(storage)
    const prefix = `work/${runs}`
    const chunk = { plan, chunk: 0, keys: chunkKeys(plan, 0), workPrefix: prefix }
    await prepareOutside(attack)
    const run = async (signal: AbortSignal) => {
      await mkdir(join(attack.scratch, SEGMENTS), { recursive: true })
      await plant(attack)
      await cp(join(encoded, SEGMENTS, 'init.mp4'), join(attack.scratch, SEGMENTS, 'init.mp4')).catch(ignore)
      // `streamSegmentsWhile` detects the planted file and aborts the run.
      await waitFor(() => signal.aborted, { timeout: 30_000 })
    }
    await expect(streamSegmentsWhile(attack.work, chunk, run)).rejects.toMatchObject({ name: 'EncodeError', kind: 'incomplete' })
    expect(attack.reported.filter(({ path }) => path.endsWith('seg-00001.m4s'))).toEqual([])
    await expectNoSecret(storage, prefix, attack)
  },
  60_000,
)

test.each(attacks)(
  'segments are not read through %s at the end of a chunk, with %s',
  async (_what, _store, plant, open) => {
    const opened = await open()
    close = opened.close
    const { storage } = opened
    const ffmpegFolder = join(folder, `fake-${runs}`)
    const wait = `: > ${SEGMENTS}/ready; until [ -e planted ]; do sleep 0.05; done`
    const attack = await prepareAttack(
      storage,
      await makeFakeFfmpeg(ffmpegFolder, `${ffmpegFolder}/lib/ffmpeg "$@" || exit 1\n${wait}; exit 0`),
    )
    const prefix = `work/${runs}`
    // The plan has two chunks, because segments of a single chunk are stored while it is encoded.
    const twice = { ...plan, chunks: [...plan.chunks, ...plan.chunks] }
    const run = encodeTask(attack.work, {
      kind: 'encode',
      plan: twice,
      chunk: 0,
      workPrefix: prefix,
      source: { object: 'sources/1', bytes: 1, sha256: '' },
    })
    const planting = (async () => {
      await waitFor(() => access(join(attack.scratch, SEGMENTS, 'ready')).then(returnTrue, returnFalse), { timeout: 60_000 })
      await prepareOutside(attack)
      await plant(attack)
      await writeFile(join(attack.scratch, 'planted'), '')
    })()
    await expect(Promise.all([run, planting])).rejects.toMatchObject({ name: 'EncodeError', kind: 'incomplete' })
    await expectNoSecret(storage, prefix, attack)
  },
  60_000,
)

/** If the folder is a link, the file exists already. */
const ignore = () => {}
const returnTrue = () => true
const returnFalse = () => false
