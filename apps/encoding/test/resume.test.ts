import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { makeSound, makeVideo } from './fixture.ts'
import { hashSetFrames } from './frames.ts'
import { endProcesses, ffmpegsBelow, type RunningProcess, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let caller: Caller
let service: Awaited<ReturnType<typeof startServiceProcess>>
const TIMEOUT_MS = 200_000
jest.setTimeout(2 * TIMEOUT_MS)

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', await makeVideo(join(environment.folder, 'video.mp4'), 26))
  environment.origin.serve('/sound.m4a', await makeSound(join(environment.folder, 'sound.m4a'), 240))
  service = await startServiceProcess(environment, { VITASCOPE_LEASE_MS: '600000' })
  caller = openCaller(service.address)
})
afterEach(() => environment.db.query('truncate outbox, job, chunk, segment, object_prefix, work_item'))
afterAll(async () => {
  caller.close()
  await endProcesses()
  await environment.close()
})

const create = (jobId: string, path: string) =>
  caller.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url(path) }, caller.call)
const waitLong = <Seen>(check: () => Seen | Promise<Seen>, describe: string) => waitFor(check, { timeout: TIMEOUT_MS, describe })
const waitForPublished = (jobId: string) => waitLong(() => environment.catalogue.published(jobId)[0], `job ${jobId} to be published`)
const readChunks = (jobId: string) =>
  environment.db.query<{ chunk: number; fence: number }>(
    'select chunk, fence::float8 as fence from chunk where job_id = $1 order by chunk',
    [jobId],
  )
const readFinishedChunks = async (jobId: string) => (await readChunks(jobId)).filter(({ fence }) => fence > 0)

const hashFrames = async (jobId: string) => hashSetFrames(environment, await waitForPublished(jobId))

async function killFfmpegs(worker: RunningProcess): Promise<void> {
  const pids = await waitLong(async () => {
    const pids = await ffmpegsBelow(worker.pid)
    return pids.length > 0 ? pids : undefined
  }, 'ffmpeg to run')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

test('after ffmpeg and a worker are killed, only incomplete tasks are repeated, with the same frames', async () => {
  const first = await startWorkerProcess(environment, service.address)
  await create('1', '/video.mp4')
  const undisturbed = await hashFrames('1')

  await create('2', '/video.mp4')
  await waitLong(async () => (await readFinishedChunks('2')).length >= 1, 'a chunk to be done')
  await killFfmpegs(first)
  await waitLong(async () => (await readFinishedChunks('2')).length >= 2, 'another chunk to be done')
  first.kill('SIGKILL')
  await first.exited
  const before = await readFinishedChunks('2')
  const second = await startWorkerProcess(environment, service.address)
  await waitForPublished('2')
  expect((await readChunks('2')).length).toBeGreaterThanOrEqual(4)
  for (const chunk of before) expect(await readChunks('2')).toContainEqual(chunk)
  expect(await hashFrames('2')).toEqual(undisturbed)
  expect(environment.catalogue.published('2')).toHaveLength(1)
  second.kill('SIGTERM')
  expect(await second.exited).toBe(0)
})

test('segments of the audio of a long source are recorded and stored before the audio is complete', async () => {
  const worker = await startWorkerProcess(environment, service.address)
  await create('3', '/sound.m4a')
  const rows = () =>
    environment.db.query<{ path: string; seconds: number; bytes: string; prefix: string; fence: number }>(
      `select s.path, s.seconds, s.bytes, c.prefix, c.fence::float8 as fence from segment s join chunk c using (job_id, chunk)
       where s.job_id = 3 and s.path like 'audio_64/%' order by s.path`,
    )
  const early = await waitLong(async () => {
    const segments = await rows()
    return segments.length > 2 ? segments : undefined
  }, 'the first segments')
  const [head, segment] = early
  expect(early.every(({ fence }) => fence === 0)).toBe(true)
  expect(head).toMatchObject({ path: 'audio_64/init.mp4', seconds: 0 })
  expect(segment?.path).toBe('audio_64/seg-00001.m4s')
  expect(Math.abs((segment?.seconds ?? 0) - 4)).toBeLessThan(0.05)
  expect((await environment.storage.stat(`${segment?.prefix}/${segment?.path}`))?.bytes).toBe(Number(segment?.bytes))
  await waitLong(async () => (await readFinishedChunks('3')).length === 1, 'the complete audio')
  const all = await rows()
  // Counts all segments, the init segment and the playlist.
  expect(all).toHaveLength(60 + 2)
  expect(all.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(240, 0)
  expect(all).toEqual(expect.arrayContaining(early.map(({ path, bytes }) => expect.objectContaining({ path, bytes }))))
  await waitForPublished('3')
  worker.kill('SIGTERM')
  expect(await worker.exited).toBe(0)
})
