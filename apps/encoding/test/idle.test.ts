import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { makeVideo } from './fixture.ts'
import { endProcesses, startServiceProcess, startWorkerProcess } from './running-process.ts'
import { openCaller, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

let environment: TestEnvironment
jest.setTimeout(400_000)

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', await makeVideo(join(environment.folder, 'video.mp4'), 2))
})
afterAll(async () => {
  await endProcesses()
  await environment.close()
})

test('workers that start when work exists and end when idle complete a job', async () => {
  const service = await startServiceProcess(environment)
  const { jobs, call, close } = openCaller(service.address)
  await jobs.createJob({ jobId: '1', mediaId: '91', organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') }, call)
  const codes: (string | number)[] = []
  while (environment.catalogue.published('1').length === 0 && codes.length < 100) {
    const worker = await startWorkerProcess(environment, service.address, { VITASCOPE_WORKER_IDLE_SECONDS: '2' })
    codes.push(await worker.exited)
  }
  expect(environment.catalogue.published('1')).toHaveLength(1)
  expect(codes).toEqual(codes.map(() => 0))
  close()
})
