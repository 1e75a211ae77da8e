import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { createStandInWorker } from './stand-in-worker.ts'

const LOW = '1000'
let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
afterEach(() => service.stop())
afterAll(() => environment.close())

const create = async (jobId: string, organisationId: string, lowPriority = false) => {
  const job = { jobId, mediaId: `9${jobId}`, organisationId, sourceUrl: environment.origin.url('/video.mp4'), lowPriority }
  await service.jobs.createJob(job, service.call)
  await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_PROBING, { describe: `the source of job ${jobId}` })
}

test('under constant normal load, a low-priority job waits until its maximum wait and then has normal priority', async () => {
  const { source, timing } = environment.config()
  service = await startInProcess(environment, {
    source: { ...source, maxJobsAhead: 1_000 },
    timing: { ...timing, lowPriorityMaxWaitSeconds: 3_600 },
  })
  const worker = createStandInWorker(service, environment.storage, 'w1:a')
  await create(LOW, '1', true)
  let normal = 0
  /**
   * Adds a normal job, so that normal work is always pending. Then runs the next task and returns
   * the id of its job.
   */
  const addJobAndRunTask = async () => {
    normal++
    await create(String(normal), normal % 2 === 0 ? '1' : '2')
    return (await worker.runNextTask()).jobId
  }
  for (let round = 0; round < 6; round++) expect(await addJobAndRunTask()).not.toBe(LOW)
  const waitSince = (minutes: number) =>
    environment.db.query(`update work_item set create_time = now() - $2::int * interval '1 minute' where key = $1 and state = 'waiting'`, [
      `job:${LOW}`,
      minutes,
    ])
  await waitSince(59)
  for (let round = 0; round < 4; round++) expect(await addJobAndRunTask()).not.toBe(LOW)
  await waitSince(61)
  const isAged = async () => (await environment.db.query('select 1 from job where job_id = $1 and not low_priority', [LOW])).length === 1
  await waitFor(isAged, { describe: 'the job to have normal priority' })
  // The next task is the probe of the low-priority job. Its later tasks do not wait for another
  // hour.
  expect(await addJobAndRunTask()).toBe(LOW)
  let rounds = 0
  while ((await service.job(LOW)).state !== JobState.JOB_STATE_OK) {
    await addJobAndRunTask()
    // Probes run before other tasks, and each round adds one. Without a second task per round, no
    // job would be encoded.
    await worker.runNextTask()
    expect(++rounds).toBeLessThan(60)
  }
})
