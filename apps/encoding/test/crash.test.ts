import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { waitFor } from '@vitascope/testing'
import type { CrashPoint } from '../src/crash-point.ts'
import { endProcesses, startServiceProcess } from './running-process.ts'
import { openCaller, type Surroundings, startSurroundings } from './service-under-test.ts'
import { standInWorker } from './stand-in-worker.ts'

let around: Surroundings
let nextJob = 1

beforeAll(async () => {
  around = await startSurroundings()
  around.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
afterEach(endProcesses)
afterAll(() => around.close())

const points: CrashPoint[] = [
  'fetch-began',
  'fetch-stored',
  'fetch-recorded',
  'probe-recorded',
  'chunk-recorded',
  'publish-undecided',
  'publish-recorded',
  'report-sent',
]

test.each(points)('a service that dies at %s goes on where it was after its next start', async (point) => {
  const jobId = String(nextJob++)
  const dying = await startServiceProcess(around, { VITASCOPE_CRASH_AT: point })
  const before = openCaller(dying.address)
  const sourceUrl = around.origin.url('/video.mp4')
  await before.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl }, before.call)
  const work = async (caller: typeof before) => {
    const worker = standInWorker(caller, around.storage, 'worker-1:a')
    while ((await caller.job(jobId)).state !== JobState.JOB_STATE_OK) {
      const { task } = await caller.work.leaseTask({ workerId: 'worker-1:a', ask: '', waitSeconds: 3 }, caller.call)
      if (!task) continue
      const result = await worker.make(task)
      // The answer of the service that dies is lost: it is told again to the next one.
      await worker.complete(task, result).catch(async (error: unknown) => {
        if (caller === before) unanswered = { task, result }
        throw error
      })
    }
  }
  let unanswered: { task: Parameters<ReturnType<typeof standInWorker>['complete']>[0]; result: unknown } | undefined
  await work(before).catch(() => {})
  expect(await dying.exited).toBe('SIGKILL')
  before.close()

  const next = await startServiceProcess(around)
  const after = openCaller(next.address)
  if (unanswered) await standInWorker(after, around.storage, 'worker-1:a').complete(unanswered.task, unanswered.result)
  await work(after)
  const set = await waitFor(() => around.catalogue.published(jobId)[0], { describe: 'the set to be reported' })
  await waitFor(async () => (await around.db.query('select 1 from outbox')).length === 0)
  expect(new Set(around.catalogue.published(jobId).map((one) => one.prefix)).size).toBe(1)
  for (const prefix of [`work/${jobId}`, `source/${jobId}`]) await waitFor(async () => (await around.objects(prefix)).length === 0)
  expect(await around.objects(`media/9${jobId}`)).toHaveLength(6)
  expect((await around.objects(set.prefix)).length).toBe(6)
  // A lost fetch is a fault of ours; nothing else that happens here is one.
  expect((await after.job(jobId)).attempt).toBe(point === 'fetch-began' || point === 'fetch-stored' ? 2 : 1)
  after.close()
})
