import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import { findMissingSets } from '../src/objects/unrecorded-objects.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { createStandInWorker, requireInput } from './stand-in-worker.ts'

const TABLES = ['job', 'chunk', 'segment', 'object_prefix', 'worker', 'work_item', 'outbox']
const LEASE_MS = 3_000

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let nextJob = 1
let jobId: string
let mediaId: string

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
beforeEach(async () => {
  await environment.db.query(`truncate ${TABLES}, failover`)
  Object.assign(environment.catalogue, { reports: [], unneeded: new Set(), used: new Set() })
  const timing = { leaseMs: LEASE_MS, fetchLeaseMs: 4_000, reconcileMs: 100, retryMs: 20, lowPriorityMaxWaitSeconds: 3_600 }
  service = await startInProcess(environment, { timing })
  jobId = String(nextJob++)
  mediaId = `9${jobId}`
})
afterEach(() => service.stop())
afterAll(() => environment.close())

const create = (media = mediaId) =>
  service.jobs.createJob({ jobId, mediaId: media, organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') }, service.call)
const createWorker = (id = 'w1:a') => createStandInWorker(service, environment.storage, id)
const getSet = (task: Task) => requireInput(task, 'package').setPrefix
const state = async () => (await service.job(jobId)).state
const waitForState = (expected: JobState) =>
  waitFor(async () => (await state()) === expected, { describe: `job ${jobId} to be ${expected}` })
const waitUntilSwept = (prefix: string, expectedCount: number) =>
  waitFor(async () => (await environment.objects(prefix)).length === expectedCount, {
    describe: `${prefix} to hold ${expectedCount} objects`,
  })
const waitUntilSettled = () =>
  waitFor(async () => (await environment.db.query('select from failover where settle_time is null')).length === 0, { timeout: 20_000 })

/** Copies all rows. The returned function restores them and records a failover. */
async function snapshot() {
  for (const table of TABLES) {
    await environment.db.query(`drop table if exists past_${table}`)
    await environment.db.query(`create table past_${table} as table ${table}`)
  }
  return async () => {
    await environment.db.transaction(async ({ query }) => {
      await query(`truncate ${TABLES}`)
      for (const table of TABLES) await query(`insert into ${table} overriding system value table past_${table}`)
      await query(`insert into failover (system_id, timeline) values ('1', '00000002')`)
    })
  }
}

test('a published set that is in use is neither changed nor removed after a failover', async () => {
  await create()
  const worker = createWorker()
  await worker.runNextTask()
  await worker.runNextTask()
  const restore = await snapshot()
  const task = await worker.runNextTask()
  await waitForState(JobState.JOB_STATE_OK)
  await waitUntilSwept(`work/${jobId}`, 0)
  const set = await environment.objects(getSet(task))
  expect(set).not.toEqual([])
  environment.catalogue.used.add(getSet(task))
  await restore()
  // The segments of the job are missing. The job is planned again without counting an attempt.
  const waiting = async () =>
    (await environment.db.query<{ kind: string }>(`select kind from work_item where state = 'waiting'`)).map(({ kind }) => kind)
  await waitFor(async () => `${await waiting()}` === 'probe', { timeout: 10_000, describe: 'the job to be planned again' })
  await worker.runNextTask()
  await worker.runNextTask()
  const repeated = await worker.runNextTask()
  expect(repeated.kind).toBe(TaskKind.TASK_KIND_PACKAGE)
  await waitForState(JobState.JOB_STATE_OK)
  expect((await service.job(jobId)).attempt).toBe(1)
  const second = getSet(repeated)
  expect(second).not.toBe(getSet(task))
  await waitUntilSettled()
  expect(await environment.objects(getSet(task))).toEqual(set)

  environment.catalogue.used.clear()
  await environment.db.query('update object_prefix set next_sweep = now() where next_sweep is not null')
  await waitUntilSwept(getSet(task), 0)
  expect(await environment.objects(second)).not.toEqual([])
}, 30_000)

test('objects below lease prefixes without a row are removed, and uploads are not', async () => {
  await create()
  const worker = createWorker()
  for (let step = 0; step < 3; step++) await worker.runNextTask()
  await waitForState(JobState.JOB_STATE_OK)
  const objectCount = (await environment.objects(`media/${mediaId}`)).length
  const names = [
    `source/${jobId}/900`,
    `work/${jobId}/901-00aa`,
    `media/${mediaId}/${jobId}-902-00bb`,
    'slides/7/77777-9',
    'media/8/88888-9-00cc',
  ]
  for (const name of names) await environment.storage.put(`${name}/a`, Buffer.from('lost'))
  await environment.storage.put('uploads/1/a', Buffer.from('an upload'))
  await environment.db.query(`insert into failover (system_id, timeline) values ('1', '00000002')`)
  await waitUntilSettled()
  for (const name of names) await waitUntilSwept(name, 0)
  expect((await environment.objects(`media/${mediaId}`)).length).toBe(objectCount)
  expect(await environment.objects('uploads')).toEqual(['uploads/1/a'])
}, 30_000)

test('a published set with missing objects is reported', async () => {
  await create()
  const worker = createWorker()
  for (let step = 0; step < 3; step++) await worker.runNextTask()
  await waitForState(JobState.JOB_STATE_OK)
  const missing = () => findMissingSets(environment, AbortSignal.timeout(10_000))
  expect(await missing()).toEqual([])
  const [name = ''] = await environment.objects(`media/${mediaId}`)
  const prefix = name.slice(0, name.lastIndexOf('/'))
  await environment.storage.deletePrefix(prefix)
  expect(await missing()).toEqual([prefix])
})

test('a lease that expires after a failover does not count as an attempt', async () => {
  await create()
  const worker = createWorker()
  await worker.lease()
  await environment.db.query('update job set attempt = 3')
  await environment.db.query(`insert into failover (system_id, timeline) values ('1', '00000002')`)
  for (let step = 0; step < 3; step++) await worker.runNextTask()
  await waitForState(JobState.JOB_STATE_OK)
  expect((await service.job(jobId)).attempt).toBe(3)
}, 30_000)

test('repeatReport sends the report again, and restarts the job if its set was removed', async () => {
  await create()
  const worker = createWorker()
  for (let step = 0; step < 3; step++) await worker.runNextTask()
  await waitFor(() => environment.catalogue.published(jobId).length === 1)
  await service.jobs.repeatReport({ jobId }, service.call)
  await waitFor(() => environment.catalogue.published(jobId).length === 2)
  const [first, second] = environment.catalogue.published(jobId)
  expect(second).toEqual(first)
  await service.jobs.repeatReport({ jobId: '999' }, service.call)

  environment.catalogue.unneeded.add(jobId)
  await service.jobs.cancelJob({ jobId }, service.call)
  await waitUntilSwept(`media/${mediaId}`, 0)
  environment.catalogue.unneeded.clear()
  await service.jobs.repeatReport({ jobId }, service.call)
  for (let step = 0; step < 3; step++) await worker.runNextTask()
  await waitFor(() => environment.catalogue.published(jobId).length === 3)
  expect(await environment.objects(environment.catalogue.published(jobId)[2]?.prefix)).not.toEqual([])
}, 30_000)

test('a repeated job is accepted, and its id is rejected for another media', async () => {
  await create()
  await create()
  await expect(create('8')).rejects.toMatchObject({ kind: 'invalid', reason: 'JOB_ID_TAKEN' })
})
