import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { makeVideo } from './fixture.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, type Surroundings, startSurroundings } from './service-under-test.ts'

let around: Surroundings
jest.setTimeout(400_000)

beforeAll(async () => {
  around = await startSurroundings()
  around.origin.serve('/video.mp4', await makeVideo(join(around.folder, 'video.mp4'), 2))
})
afterAll(async () => {
  await endProcesses()
  await around.close()
})

test('workers that start when work exists and end when idle complete a job', async () => {
  const service = await startServiceProcess(around)
  const { jobs, call, close } = openCaller(service.address)
  await jobs.createJob({ jobId: '1', mediaId: '91', organisationId: '1', sourceUrl: around.origin.url('/video.mp4') }, call)
  const codes: (string | number)[] = []
  while (around.catalogue.published('1').length === 0 && codes.length < 100) {
    const worker = await startWorkerProcess(around, service.address, { VITASCOPE_WORKER_IDLE_SECONDS: '2' })
    codes.push(await worker.exited)
  }
  expect(around.catalogue.published('1')).toHaveLength(1)
  expect(codes).toEqual(codes.map(() => 0))
  close()
})
