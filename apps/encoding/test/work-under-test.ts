import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import type { JobState } from '@vitascope/proto/encoding/v1/job'
import type { Task } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { createStandInWorker, requireInput } from './stand-in-worker.ts'

export type Service = Awaited<ReturnType<typeof startInProcess>>

/** State of one test: a service without work, and the ids of the next job. */
export interface Work {
  environment: TestEnvironment
  service: Service
  jobId: string
  mediaId: string
}

/** Returns the prefix of the set that a task writes. */
export const readSetPrefix = (task: Task) => requireInput(task, 'package').setPrefix
export const leaseLostError = { kind: 'failed_precondition', reason: 'LEASE_LOST' }

/**
 * Call it at the top of a test file. Before each test, the service is reset, and the test simulates
 * the workers. `now` holds the current state.
 */
export function workUnderTest() {
  let environment: TestEnvironment
  let service: Service
  let jobs = 0
  let jobId = ''
  const nextJobId = () => `${++jobs}`
  beforeAll(async () => {
    environment = await startTestEnvironment()
    environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
  })
  beforeEach(async () => {
    await environment.deleteJobs()
    Object.assign(environment.catalogue, { reports: [], error: undefined })
    service = await startInProcess(environment)
    jobId = nextJobId()
  })
  afterEach(() => service.stop())
  afterAll(() => environment.close())

  return {
    now: (): Work => ({ environment, service, jobId, mediaId: `9${jobId}` }),
    /** Returns the id of the next job. */
    nextJobId,
    create: (id = jobId, path = '/video.mp4') =>
      service.jobs.createJob({ jobId: id, mediaId: `9${id}`, organisationId: '1', sourceUrl: environment.origin.url(path) }, service.call),
    cancel: (id: string) => service.jobs.cancelJob({ jobId: id }, service.call),
    createWorker: (id = 'w1:a') => createStandInWorker(service, environment.storage, id),
    ended: (id: string, state: JobState) =>
      waitFor(async () => (await service.job(id)).state === state, { describe: `job ${id} to be ${state}` }),
    /** Sets the end of all leases to a past time. */
    expireLeases: () => environment.db.query(`update work_item set lease_end = now() - interval '1 second' where state = 'leased'`),
    expectSwept: (prefix: string, expected: string[]) =>
      waitFor(async () => (await environment.objects(prefix)).join() === expected.join(), {
        describe: `${prefix} to hold ${expected.length} objects`,
      }),
  }
}
