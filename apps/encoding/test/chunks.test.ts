import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { buildLongProbe, createStandInWorker, leaseRequest, requireInput } from './stand-in-worker.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let worker: ReturnType<typeof createStandInWorker>
let nextJob = 1
let jobId: string

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
beforeEach(async () => {
  await environment.deleteJobs()
  service = await startInProcess(environment)
  worker = createStandInWorker(service, environment.storage, 'w1:a')
  jobId = String(nextJob++)
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId: `9${jobId}`, organisationId: '1', sourceUrl }, service.call)
  await worker.complete(await worker.lease(), buildLongProbe())
})
afterEach(() => service.stop())
afterAll(() => environment.close())

const AUDIO = 3
const requireChunk = (task: Task) => requireInput(task, 'encode').chunk
const listSegments = (chunk: number) =>
  environment.db.query<{ path: string; seconds: number }>(
    'select path, seconds from segment where job_id = $1 and chunk = $2 order by path',
    [jobId, chunk],
  )
const findChunkRow = async (chunk: number) =>
  (
    await environment.db.query<{ prefix: string | null; fence: number }>(
      'select prefix, fence::float8 as fence from chunk where job_id = $1 and chunk = $2',
      [jobId, chunk],
    )
  )[0]
const LEASE_LOST = { kind: 'failed_precondition', reason: 'LEASE_LOST' }

test('audio and the first chunk are encoded first, and the set contains all chunks in order', async () => {
  const tasks: Task[] = []
  for (let steps = 0; steps < 4; steps++) tasks.push(await worker.runNextTask())
  expect(tasks.map((task) => [task.kind, requireChunk(task)])).toEqual([
    [TaskKind.TASK_KIND_AUDIO, AUDIO],
    [TaskKind.TASK_KIND_ENCODE, 0],
    [TaskKind.TASK_KIND_ENCODE, 1],
    [TaskKind.TASK_KIND_ENCODE, 2],
  ])
  const last = await worker.lease()
  expect(last.kind).toBe(TaskKind.TASK_KIND_PACKAGE)
  expect(requireInput(last, 'package').chunks.map(({ chunk }) => chunk)).toEqual([0, 1, 2, AUDIO])
  expect(await listSegments(1)).toContainEqual({ path: 'h264_250/seg-00002.m4s', seconds: 4 })
  expect(await listSegments(AUDIO)).toContainEqual({ path: 'audio_64/init.mp4', seconds: 0 })
  await worker.complete(last, await worker.make(last))
  await waitFor(() => environment.catalogue.published(jobId).length === 1)
})

test('the rows of the segments are removed when the catalogue has the set', async () => {
  for (let steps = 0; steps < 5; steps++) await worker.runNextTask()
  await waitFor(() => environment.catalogue.published(jobId).length === 1)
  await waitFor(async () => (await environment.db.query('select 1 from segment where job_id = $1', [jobId])).length === 0)
  expect((await service.job(jobId)).chunkProgress).toEqual([1, 1, 1, 1])
})

test('the rows of the segments are removed when the job is cancelled', async () => {
  await worker.runNextTask()
  expect((await listSegments(AUDIO)).length).toBeGreaterThan(0)
  await service.jobs.cancelJob({ jobId }, service.call)
  expect(await listSegments(AUDIO)).toEqual([])
})

test('a job reports the progress of each chunk and the expected remaining time', async () => {
  const listCosts = (job: string) =>
    environment.db.query<{ weight: number }>('select weight from chunk where job_id = $1 order by chunk', [job])
  const sum = (rows: { weight: number }[]) => rows.reduce((all, { weight }) => all + weight, 0)
  const ownCosts = await listCosts(jobId)
  const packaging = 1 + 0.05 * ((await service.job(jobId)).plan?.expectedCpuSeconds ?? Number.NaN)
  expect(await service.job(jobId)).toMatchObject({
    chunkProgress: [0, 0, 0, 0],
    expectedSeconds: expect.closeTo(packaging + sum(ownCosts), 3),
  })

  const otherJobId = String(nextJob++)
  await service.jobs.createJob(
    { jobId: otherJobId, mediaId: '7', organisationId: '2', sourceUrl: environment.origin.url('/video.mp4') },
    service.call,
  )
  const { task: probe } = await service.work.leaseTask(
    leaseRequest({ workerId: 'w1:a', waitSeconds: 5, kinds: [TaskKind.TASK_KIND_PROBE] }),
    service.call,
  )
  if (!probe) throw new Error('there is no probe task')
  await worker.complete(probe, buildLongProbe())
  const total = sum(ownCosts) + sum(await listCosts(otherJobId))
  expect((await service.job(otherJobId)).expectedSeconds).toBeCloseTo(packaging + total, 3)
  expect((await service.job(jobId)).expectedSeconds).toBeLessThan(packaging + total)

  const step = await worker.runNextTask()
  // Makes the chunk appear to have taken twice its expected time.
  await environment.db.query(`update chunk set begin_time = end_time - 2 * weight * interval '1 second' where end_time is not null`)
  const encodedChunk = requireChunk(step)
  const remainingCost = total - (ownCosts[encodedChunk]?.weight ?? 0)
  expect((await service.job(otherJobId)).expectedSeconds).toBeCloseTo(packaging + remainingCost * 2, 1)
  expect((await service.job(jobId)).chunkProgress.indexOf(1)).toBe(encodedChunk)
  const before = (await service.job(otherJobId)).expectedSeconds ?? 0
  await worker.extendLease(await worker.lease(), 0.5)
  expect((await service.job(otherJobId)).expectedSeconds).toBeLessThan(before)
})

test('the progress of a job is that of its chunks, weighted by their expected time', async () => {
  await worker.runNextTask()
  const before = (await service.job(jobId)).progress
  expect(before).toBeLessThan(40)
  await worker.runNextTask()
  await worker.runNextTask()
  const task = await worker.lease()
  await worker.extendLease(task, 0.5)
  expect((await service.job(jobId)).progress).toBeGreaterThan(before + 20)
})

describe('a segment of a running task', () => {
  let task: Task
  beforeEach(async () => {
    task = await worker.lease()
    await worker.addSegment(task, 'audio_64/init.mp4', 0)
    await worker.addSegment(task, 'audio_64/seg-00001.m4s', 3.989333)
  })
  const added = [
    { path: 'audio_64/init.mp4', seconds: 0 },
    { path: 'audio_64/seg-00001.m4s', seconds: 3.989333 },
  ]

  test('is recorded once, with its prefix, before the task is complete', async () => {
    await worker.addSegment(task, 'audio_64/seg-00001.m4s', 3.989333)
    expect(await listSegments(AUDIO)).toEqual(added)
    const { workPrefix } = requireInput(task, 'encode')
    expect(await findChunkRow(AUDIO)).toEqual({ prefix: workPrefix, fence: 0 })
    await worker.complete(task, await worker.make(task))
    expect(await findChunkRow(AUDIO)).toEqual({ prefix: workPrefix, fence: task.fence })
    expect(await listSegments(AUDIO)).toHaveLength(6)
  })
  test.each([
    ['fails', () => worker.fail(task, 5002)],
    ['is released', () => worker.release(task)],
    ['is lost', () => environment.db.query(`update work_item set lease_end = now() - interval '1 second' where state = 'leased'`)],
  ])('is removed when the task %s', async (_, end) => {
    const { workPrefix } = requireInput(task, 'encode')
    await end()
    await waitFor(async () => (await listSegments(AUDIO)).length === 0)
    expect(await findChunkRow(AUDIO)).toEqual({ prefix: null, fence: 0 })
    await waitFor(async () => (await environment.objects(workPrefix)).length === 0)
    await expect(worker.addSegment(task, 'audio_64/seg-00002.m4s', 4)).rejects.toMatchObject(LEASE_LOST)
    expect(await listSegments(AUDIO)).toEqual([])
  })
  test('is removed without affecting complete chunks', async () => {
    const otherWorker = createStandInWorker(service, environment.storage, 'w2:a')
    const first = await otherWorker.runNextTask()
    await worker.fail(task, 5002)
    await waitFor(async () => (await listSegments(AUDIO)).length === 0)
    expect(await findChunkRow(0)).toMatchObject({ fence: first.fence })
    expect((await listSegments(0)).length).toBeGreaterThan(0)
  })
  test('is rejected if it is invalid', async () => {
    const invalidFile = { path: '../a', bytes: 1, sha256: 'a'.repeat(64), seconds: 0 }
    for (const files of [
      [],
      [invalidFile],
      [{ ...invalidFile, path: 'a', seconds: Number.NaN }],
      [{ ...invalidFile, path: 'a', sha256: 'x' }],
    ]) {
      const request = { taskId: task.taskId, fence: task.fence, files }
      await expect(service.work.addSegments(request, service.call)).rejects.toMatchObject({ kind: 'invalid' })
    }
  })
})

describe('faults', () => {
  test('only the failed chunk is encoded again; attempts are counted per chunk', async () => {
    const leasedChunks: number[] = []
    for (;;) {
      const task = await worker.lease()
      if (task.kind === TaskKind.TASK_KIND_PACKAGE) {
        await worker.complete(task, await worker.make(task))
        break
      }
      const chunk = requireChunk(task)
      leasedChunks.push(chunk)
      if (leasedChunks.filter((one) => one === chunk).length < 3) await worker.fail(task, 5002)
      else await worker.complete(task, await worker.make(task))
    }
    expect(leasedChunks.toSorted()).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    expect(await service.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_OK, attempt: 3 })
  })
  test('a job fails after three failures of one chunk', async () => {
    for (let times = 0; times < 3; times++) {
      const task = await waitFor(async () => {
        const leased = await worker.lease()
        if (requireChunk(leased) === 1) return leased
        await worker.complete(leased, await worker.make(leased))
        return undefined
      })
      await worker.fail(task, 5002)
    }
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_FAILED)
    expect(await service.job(jobId)).toMatchObject({ code: 5002, attempt: 3 })
  })
})

test('a worker of an older release gets no task that depends on a plan', async () => {
  const older = await service.work.leaseTask(leaseRequest({ workerId: 'old:1', planVersion: 0 }), service.call)
  expect(older.task).toBeUndefined()
  expect((await worker.lease()).kind).toBe(TaskKind.TASK_KIND_AUDIO)
})
