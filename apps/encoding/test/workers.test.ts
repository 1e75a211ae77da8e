import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type Call, type Channel, type Client, openChannel, type Principal, serviceCall, type UserKind } from '@vitascope/grpc'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { WorkerServiceService } from '@vitascope/proto/encoding/v1/worker'
import { waitFor } from '@vitascope/testing'
import { testPrincipals } from '@vitascope/testing/principal-keys'
import { sweepWorkers } from '../src/work/worker-store.ts'
import { countTasks } from '../src/work/workload-store.ts'
import type { TestEnvironment } from './service-under-test.ts'
import { buildLongProbe } from './stand-in-worker.ts'
import { type Service, workUnderTest } from './work-under-test.ts'

const work = workUnderTest()
const { create, createWorker, nextJobId } = work
const firstPage = { pageSize: 0, pageToken: '', skip: 0 }
const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
const toUserCall = (userType: UserKind) => toCall({ kind: 'user', keyId: '3', userId: '7', organisationId: '1', userType })
const system = toUserCall('system')
let environment: TestEnvironment
let service: Service
let jobId: string
let channel: Channel
let workers: Client<typeof WorkerServiceService>
beforeEach(() => {
  ;({ environment, service, jobId } = work.now())
  channel = openChannel(service.address, { service: 'encoding', principals: testPrincipals() })
  workers = channel.client(WorkerServiceService)
})
afterEach(() => channel.close())

const list = async (page: Partial<typeof firstPage> = {}) => workers.listWorkers({ ...firstPage, ...page }, system)
const waitUntilFetched = (id = jobId) => waitFor(async () => (await service.job(id)).state === JobState.JOB_STATE_PROBING)

test('workers are listed by name with the tasks that they run, and their chunks with their progress', async () => {
  await create()
  await waitUntilFetched()
  const worker = createWorker('w2:a')
  await worker.complete(await worker.lease(), buildLongProbe())
  const [audio, chunk] = [await worker.lease(), await worker.lease()]
  await worker.extendLease(chunk, 0.5)
  const idle = createWorker('w1:a')
  await expect(idle.lease(0)).resolves.toMatchObject({ jobId })
  const { workers: rows, nextPageToken } = await list()
  expect(nextPageToken).toBe('')
  expect(rows).toMatchObject([
    { name: 'w1', connected: true, tasks: [{ jobId }] },
    {
      ...{ name: 'w2', connected: true },
      tasks: [
        { kind: 'audio', jobId, organisationId: '1', chunk: 3, done: 0 },
        { kind: 'encode', jobId, organisationId: '1', chunk: 0, done: 0.5 },
      ],
    },
  ])
  for (const row of rows) {
    for (const seconds of [row.connectedSeconds, row.heartbeatAgeSeconds, ...row.tasks.map((task) => task.runningSeconds)]) {
      expect(seconds).toBeGreaterThanOrEqual(0)
      expect(seconds).toBeLessThan(30)
    }
  }
  await worker.release(audio)
  expect((await list()).workers[1]?.tasks.map(({ kind }) => kind)).toEqual(['encode'])
  const page = await list({ pageSize: 1 })
  expect(page.workers.map(({ name }) => name)).toEqual(['w1'])
  expect((await list({ pageToken: page.nextPageToken })).workers.map(({ name }) => name)).toEqual(['w2'])
  expect((await list({ skip: 1 })).workers.map(({ name }) => name)).toEqual(['w2'])
})

test('a worker without heartbeats is not connected after 30 s, and not listed after 10 minutes; a running task is a heartbeat', async () => {
  await create()
  await waitUntilFetched()
  const worker = createWorker('w1:a')
  const task = await worker.lease()
  const age = (time: string) =>
    environment.db.query(`update worker set seen_time = seen_time - interval '${time}', create_time = create_time - interval '${time}'`)
  await age('31 seconds')
  expect((await list()).workers).toMatchObject([{ name: 'w1', connected: true, tasks: [{ kind: 'probe', jobId }] }])
  await age('1 hour')
  expect((await list()).workers).toMatchObject([{ connected: true, connectedSeconds: expect.closeTo(3_631, -2) }])
  await worker.release(task)
  expect((await list()).workers).toEqual([])
  await environment.db.query(`update worker set seen_time = now() - interval '31 seconds'`)
  expect((await list()).workers).toMatchObject([{ connected: false, heartbeatAgeSeconds: expect.closeTo(31, -1), tasks: [] }])
})

test('a restarted worker replaces its former process in the list, and old processes are removed', async () => {
  await create()
  await waitUntilFetched()
  await createWorker('w1:a').lease()
  const restarted = createWorker('w1:b')
  await expect(restarted.lease(5)).resolves.toMatchObject({ jobId })
  expect((await list()).workers).toMatchObject([{ name: 'w1', tasks: [{ jobId }] }])
  expect(await environment.db.query('select from worker')).toHaveLength(2)
  expect(await sweepWorkers(environment.db.query, 10)).toBe(0)
  await environment.db.query(`update worker set seen_time = now() - interval '8 days' where worker_id = 'w1:a'`)
  expect(await sweepWorkers(environment.db.query, 10)).toBe(1)
  expect(await environment.db.query('select worker_id from worker')).toEqual([{ worker_id: 'w1:b' }])
})

test('requests within 5 s of a heartbeat do not write', async () => {
  const worker = createWorker('w1:a')
  const request = () => worker.lease(0).catch(() => undefined)
  const readVersion = async () => (await environment.db.query<{ version: string }>('select xmin::text as version from worker'))[0]?.version
  await request()
  const first = await readVersion()
  await request()
  expect(await readVersion()).toBe(first)
  await environment.db.query(`update worker set seen_time = seen_time - interval '6 seconds'`)
  const aged = await readVersion()
  await request()
  expect(await readVersion()).not.toBe(aged)
})

test('waiting and running tasks are counted by kind and organisation, with the longest wait', async () => {
  await create()
  await waitUntilFetched()
  const worker = createWorker()
  await worker.complete(await worker.lease(), buildLongProbe())
  const leased = await worker.lease()
  await worker.lease()
  await worker.release(leased)
  await environment.db.query(`update work_item set due_time = now() - interval '90 seconds' where kind = 'encode' and state = 'waiting'`)
  await environment.db.query(`update work_item set due_time = now() + interval '90 seconds' where kind = 'audio'`)
  const otherJobId = nextJobId()
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId: otherJobId, mediaId: '99', organisationId: '2', sourceUrl }, service.call)
  await waitUntilFetched(otherJobId)
  const counts = await workers.getTaskCounts({}, system)
  const audio = { kind: 'audio', waiting: 1, running: 0, waitingSeconds: undefined }
  const encode = { kind: 'encode', waiting: 2, running: 1, waitingSeconds: expect.closeTo(90, -1) }
  const probe = { kind: 'probe', waiting: 1, running: 0, waitingSeconds: expect.closeTo(0, -1) }
  expect(counts.kinds).toMatchObject([audio, encode, probe])
  expect(counts.organisations).toMatchObject([
    { organisationId: '1', ...encode },
    { organisationId: '2', ...probe },
    { organisationId: '1', ...audio },
  ])
})

test('at most 200 organisations are listed, and all are counted', async () => {
  await environment.db.query(
    `insert into work_item (key, kind, group_key, priority, turn, payload, due_time)
     select 'job:' || n, 'probe', n, 0, n, '{}', now() - n * interval '1 second' from generate_series(1, 250) as n`,
  )
  const { kinds, organisations } = await countTasks(environment.db.query)
  expect(kinds).toMatchObject([{ kind: 'probe', waiting: 250, running: 0 }])
  expect(organisations.map(({ organisationId }) => organisationId)).toEqual(Array.from({ length: 200 }, (_, n) => String(250 - n)))
})

test.each(['standard', 'uploader'] as const)('a user of the type %s sees neither workers nor tasks', async (userType) => {
  const refused = { kind: 'forbidden', reason: 'SYSTEM_ONLY' }
  await expect(workers.listWorkers(firstPage, toUserCall(userType))).rejects.toMatchObject(refused)
  await expect(workers.getTaskCounts({}, toUserCall(userType))).rejects.toMatchObject(refused)
})

test('guests and services see neither workers nor tasks', async () => {
  await expect(workers.listWorkers(firstPage, toCall({ kind: 'guest' }))).rejects.toMatchObject({ reason: 'KEY_REQUIRED' })
  await expect(workers.getTaskCounts({}, service.call)).rejects.toMatchObject({ reason: 'USERS_ONLY' })
})
