// Faults: C3, C10
import { beforeEach, describe, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import type { TestEnvironment } from './service-under-test.ts'
import { buildCopyableProbe, countCopied, leaseRequest } from './stand-in-worker.ts'
import { leaseLostError, readSetPrefix, type Service, workUnderTest } from './work-under-test.ts'

const work = workUnderTest()
const { nextJobId, create, createWorker, expireLeases, expectSwept } = work
let environment: TestEnvironment
let service: Service
let jobId: string
let mediaId: string
beforeEach(() => {
  ;({ environment, service, jobId, mediaId } = work.now())
})
const waitUntilEnded = (state: JobState) => work.ended(jobId, state)

describe('a worker', () => {
  test('whose lease expired changes nothing', async () => {
    await create()
    await createWorker().runNextTask()
    const stale = createWorker('w1:a')
    const task = await stale.lease()
    await stale.extendLease(task, 0.5)
    await expireLeases()
    const otherWorker = createWorker('w2:a')
    const secondLease = await otherWorker.lease()
    expect(secondLease.taskId).toBe(task.taskId)
    expect(secondLease.fence).toBeGreaterThan(task.fence)
    const rows = async () =>
      JSON.stringify([await environment.db.query('select * from chunk'), await environment.db.query('select attempt, state from job')])
    const before = await rows()
    await expect(stale.extendLease(task, 0.9)).rejects.toMatchObject(leaseLostError)
    await expect(stale.complete(task, await stale.make(task))).rejects.toMatchObject(leaseLostError)
    await expect(stale.fail(task, 5002)).rejects.toMatchObject(leaseLostError)
    await expect(stale.release(task)).rejects.toMatchObject(leaseLostError)
    expect(await rows()).toBe(before)
    await otherWorker.complete(secondLease, await otherWorker.make(secondLease))
    await otherWorker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    // The objects of the stale worker are removed. One set is left.
    await expectSwept(`work/${jobId}`, [])
    expect(environment.catalogue.published(jobId)).toHaveLength(1)
  })
  test('that stores a set after its lease expired leaves no objects of it', async () => {
    await create()
    const stale = createWorker('w1:a')
    await stale.runNextTask()
    await stale.runNextTask()
    const task = await stale.lease()
    await expireLeases()
    const otherWorker = createWorker('w2:a')
    const secondLease = await otherWorker.lease()
    const late = await stale.make(task)
    await otherWorker.complete(secondLease, await otherWorker.make(secondLease))
    await expect(stale.complete(task, late)).rejects.toMatchObject(leaseLostError)
    await waitUntilEnded(JobState.JOB_STATE_OK)
    const prefix = readSetPrefix(secondLease)
    await waitFor(async () => (await environment.objects(`media/${mediaId}`)).every((name) => name.startsWith(`${prefix}/`)))
    expect(await environment.objects(prefix)).toHaveLength(6)
  })
  test('that repeats its result gets a success response', async () => {
    await create()
    const worker = createWorker()
    await worker.runNextTask()
    await worker.runNextTask()
    const task = await worker.lease()
    const result = await worker.make(task)
    await worker.complete(task, result)
    await expectSwept(`work/${jobId}`, [])
    await worker.complete(task, result)
    expect(environment.catalogue.published(jobId).length).toBeLessThanOrEqual(1)
    await waitUntilEnded(JobState.JOB_STATE_OK)
  })
})

test('a lease request that is repeated with the same id returns the same task', async () => {
  await create()
  const request = (name: string, workerId = 'w1:a') =>
    service.work.leaseTask(leaseRequest({ workerId, requestId: name, waitSeconds: 5 }), service.call)
  const { task } = await request('1')
  expect(await request('1')).toEqual({ task })
  await expect(request('x'.repeat(101))).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'request_id' }] })
  expect((await service.job(jobId)).attempt).toBe(1)
})

test('a lease of a client that disconnects is released without counting an attempt', async () => {
  await create()
  const items = (state: string) => environment.db.query(`select 1 from work_item where kind = 'probe' and state = $1`, [state])
  await waitFor(async () => (await items('waiting')).length === 1, { describe: 'the task' })
  const disconnect = new AbortController()
  await environment.db.transaction(async (tx) => {
    // Preparing a task locks its job first.
    await tx.query('select 1 from job where job_id = $1 for update', [jobId])
    const requested = service.work.leaseTask(leaseRequest({ workerId: 'w1:a', waitSeconds: 5 }), {
      ...service.call,
      signal: disconnect.signal,
    })
    requested.catch(() => {})
    await waitFor(async () => (await items('leased')).length === 1, { describe: 'the task to be leased' })
    disconnect.abort()
    await expect(requested).rejects.toBeDefined()
    // Uses the same connection: its response means that the service has seen the disconnect.
    await service.job(jobId)
  })
  await waitFor(async () => (await items('waiting')).length === 1, { describe: 'the task to wait again' })
  const task = await createWorker('w2:a').lease()
  expect((await service.job(jobId)).attempt).toBe(1)
  await createWorker('w2:a').extendLease(task)
})

describe('a worker that restarts', () => {
  test('gets its task again at once, and its former process is rejected', async () => {
    await create()
    const before = createWorker('w1:first')
    const task = await before.lease()
    const after = createWorker('w1:second')
    const secondLease = await after.lease()
    expect(secondLease.taskId).toBe(task.taskId)
    await expect(before.extendLease(task)).rejects.toMatchObject(leaseLostError)
    await expect(before.lease()).rejects.toMatchObject({ reason: 'WORKER_SUPERSEDED' })
    expect((await service.job(jobId)).attempt).toBe(2)
    await after.extendLease(secondLease)
  })
  test('does not affect the tasks of other workers', async () => {
    await create()
    const otherWorker = createWorker('w2:first')
    const task = await otherWorker.lease()
    for (const workerId of ['w1:first', 'w1:second']) await service.work.leaseTask(leaseRequest({ workerId }), service.call)
    await otherWorker.extendLease(task)
  })
  test('after releasing its task gets it again without counting an attempt', async () => {
    await create()
    const worker = createWorker()
    await worker.release(await worker.lease())
    const secondLease = await worker.lease()
    expect((await service.job(jobId)).attempt).toBe(1)
    await worker.extendLease(secondLease)
  })
})

describe('faults', () => {
  test('a job that crashes its worker fails after three attempts, and others continue', async () => {
    await create()
    const worker = (restarts: number) => createWorker(`w1:${restarts}`)
    for (const restarts of [1, 2, 3]) await worker(restarts).lease()
    await service.work.leaseTask(leaseRequest({ workerId: 'w1:4' }), service.call)
    await waitUntilEnded(JobState.JOB_STATE_FAILED)
    expect(await service.job(jobId)).toMatchObject({ code: 5001, attempt: 3 })
    await waitFor(() => environment.catalogue.failed(jobId).length === 1)
    await expectSwept(`source/${jobId}`, [])
    jobId = nextJobId()
    await create(jobId)
    for (let steps = 0; steps < 3; steps++) await worker(4).runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
  })
  test('a fault of the encoder is retried twice, and the job has the last code', async () => {
    await create()
    const worker = createWorker()
    await worker.fail(await worker.lease(), 5002)
    await worker.fail(await worker.lease(), 5002)
    await worker.fail(await worker.lease(), 5003, 'not what was planned')
    await waitUntilEnded(JobState.JOB_STATE_FAILED)
    await waitFor(() => environment.catalogue.failed(jobId).length === 1)
    expect(environment.catalogue.failed(jobId)).toEqual([{ code: 5003, message: 'not what was planned' }])
  })
  test('a fault of the source is final', async () => {
    await create()
    const worker = createWorker()
    await worker.fail(await worker.lease(), 4002, 'not a video')
    await waitUntilEnded(JobState.JOB_STATE_FAILED)
    expect(await service.job(jobId)).toMatchObject({ code: 4002, attempt: 1, message: 'not a video' })
  })
  test('a set that fails its verification is encoded again', async () => {
    await create()
    const worker = createWorker()
    await worker.runNextTask()
    await worker.runNextTask()
    await worker.fail(await worker.lease(), 5003)
    expect((await worker.runNextTask()).kind).toBe(TaskKind.TASK_KIND_ENCODE)
    await worker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(2)
  })
  test('a job with a plan for another ffmpeg build is planned again', async () => {
    await create()
    const worker = createWorker()
    await worker.runNextTask()
    await worker.fail(await worker.lease(), 5005)
    const kinds = [(await worker.runNextTask()).kind, (await worker.runNextTask()).kind, (await worker.runNextTask()).kind]
    expect(kinds).toEqual([TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE, TaskKind.TASK_KIND_PACKAGE])
    await waitUntilEnded(JobState.JOB_STATE_OK)
  })
  test.each([
    ['the copied picture of a chunk has decoding errors', 1, 5007, 'source'],
    ['the frames of a chunk differ from the plan', 1, 5003, 'mismatch'],
    ['a chunk crashes the encoder', 1, 5002, 'encoder'],
    ['its verification fails', 2, 5003, 'mismatch'],
  ])('a copied picture is encoded in the same attempt if %s', async (_, steps, code, reason) => {
    await create()
    const worker = createWorker()
    const probe = buildCopyableProbe()
    await worker.complete(await worker.lease(), probe)
    if (steps === 2) expect(countCopied(await worker.runNextTask())).toBe(1)
    const failed = await worker.lease()
    expect(countCopied(failed)).toBe(1)
    await worker.fail(failed, code)
    const secondLease = await worker.lease()
    expect(secondLease.kind).toBe(TaskKind.TASK_KIND_PROBE)
    await worker.complete(secondLease, probe)
    const encode = await worker.lease()
    expect(countCopied(encode)).toBe(0)
    await worker.complete(encode, await worker.make(encode))
    await worker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(1)
    const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text()
    expect(metrics).toMatch(new RegExp(`^vitascope_encoding_copy_fallbacks_total\\{.*reason="${reason}".*\\} 1$`, 'm'))
  })
  test('a set with a missing file is never published', async () => {
    await create()
    const worker = createWorker()
    await worker.runNextTask()
    await worker.runNextTask()
    const task = await worker.lease()
    const result = await worker.make(task)
    await environment.storage.delete(`${readSetPrefix(task)}/h264_250.mp4`)
    await expect(worker.complete(task, result)).rejects.toMatchObject(leaseLostError)
    expect(environment.catalogue.published(jobId)).toHaveLength(0)
    await worker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(1)
  })
  test('a job whose tasks were lost is planned again', async () => {
    await create()
    await createWorker().lease()
    await environment.db.query(`delete from work_item`)
    await environment.db.query(`update job set create_time = now() - interval '1 hour'`)
    const worker = createWorker()
    for (let steps = 0; steps < 3; steps++) await worker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(2)
    // The new plan replaces the former one completely.
    expect(await environment.db.query('select plan_number from job where job_id = $1', [jobId])).toEqual([{ plan_number: 2 }])
  })
})
