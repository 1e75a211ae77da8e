import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import { makeVideo } from './fixture.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { type Caller, openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startServiceProcess>>
let caller: Caller
const TIMEOUT_MS = 200_000
const MIB = 2 ** 20
jest.setTimeout(2 * TIMEOUT_MS)

beforeAll(async () => {
  environment = await startTestEnvironment()
  const video = await readFile(await makeVideo(join(environment.folder, 'video.mp4'), 4))
  environment.origin.serve('/video.mp4', video)
  environment.origin.serve('/half.mp4', Buffer.concat([video, freeBox(10 * MIB)]))
  environment.origin.serve('/large.mp4', Buffer.concat([video, freeBox(20 * MIB)]))
  service = await startServiceProcess(environment, { VITASCOPE_RETRY_MS: '5' })
  caller = openCaller(service.address)
})
afterAll(async () => {
  caller?.close()
  await endProcesses()
  await environment.close()
})

/** Returns an unused MP4 box. */
function freeBox(bytes: number): Buffer {
  const box = Buffer.alloc(bytes)
  box.writeUInt32BE(bytes, 0)
  box.write('free', 4)
  return box
}

const create = (jobId: string, path: string) =>
  caller.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl: environment.origin.url(path) }, caller.call)
const waitLong = (check: () => boolean | Promise<boolean>, describe: string) => waitFor(check, { timeout: TIMEOUT_MS, describe })
const startWorker = () =>
  startWorkerProcess(environment, service.address, { VITASCOPE_WORKER_SLOTS: '2', VITASCOPE_SCRATCH_BYTES: String(16 * MIB) })

test('a source larger than the scratch space fails only its own job, and the message names the setting', async () => {
  const worker = await startWorker()
  await create('1', '/large.mp4')
  await create('2', '/video.mp4')
  await waitLong(
    () => environment.catalogue.failed('1').length === 1 && environment.catalogue.published('2').length === 1,
    'both jobs to end',
  )
  const [large, small] = await Promise.all([caller.job('1'), caller.job('2')])
  expect(large).toMatchObject({ state: JobState.JOB_STATE_FAILED, code: 5004, attempt: 1 })
  expect(large.message).toMatch(/^a task needs 20\.\d MiB of scratch space, but this worker has 16\.0 MiB: raise VITASCOPE_SCRATCH_BYTES /)
  expect(small).toMatchObject({ state: JobState.JOB_STATE_OK, attempt: 1 })
  worker.kill('SIGTERM')
  expect(await worker.exited).toBe(0)
})

test('two sources that do not fit together are processed one after the other', async () => {
  await create('3', '/half.mp4')
  await create('4', '/half.mp4')
  const isFetched = async (jobId: string) => (await caller.job(jobId)).state === JobState.JOB_STATE_PROBING
  await waitLong(async () => (await isFetched('3')) && (await isFetched('4')), 'both sources to be downloaded')
  const worker = await startWorker()
  await waitLong(() => ['3', '4'].every((jobId) => environment.catalogue.published(jobId).length === 1), 'both jobs to be published')
  expect(worker.lines.filter(({ msg }) => msg === 'task waits for scratch space')).not.toHaveLength(0)
  for (const jobId of ['3', '4']) expect(await caller.job(jobId)).toMatchObject({ attempt: 1 })
})
