import { beforeEach, describe, expect, test } from '@jest/globals'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import type { EncodeInput } from '../src/work/task.ts'
import type { Surroundings } from './service-under-test.ts'
import { anAsk, aProbe } from './stand-in-worker.ts'
import { lost, type Service, setOf, workUnderTest } from './work-under-test.ts'

const work = workUnderTest()
const { another, create, aWorker, runOut, sweptTo } = work
let around: Surroundings
let service: Service
let jobId: string
let mediaId: string
beforeEach(() => {
  ;({ around, service, jobId, mediaId } = work.now())
})
const ended = (state: JobState) => work.ended(jobId, state)

describe('a stale worker', () => {
  test('whose lease ran out touches nothing, while the other one goes on', async () => {
    await create()
    await aWorker().step()
    const stale = aWorker('w1:a')
    const task = await stale.lease()
    await stale.beat(task, 0.5)
    await runOut()
    const other = aWorker('w2:a')
    const again = await other.lease()
    expect(again.taskId).toBe(task.taskId)
    expect(again.attempt).toBeGreaterThan(task.attempt)
    const rows = async () =>
      JSON.stringify([await around.db.query('select * from chunk'), await around.db.query('select attempt, state from job')])
    const before = await rows()
    await expect(stale.beat(task, 0.9)).rejects.toMatchObject(lost)
    await expect(stale.complete(task, await stale.make(task))).rejects.toMatchObject(lost)
    await expect(stale.fail(task, 5002)).rejects.toMatchObject(lost)
    await expect(stale.release(task)).rejects.toMatchObject(lost)
    expect(await rows()).toBe(before)
    await other.complete(again, await other.make(again))
    await other.step()
    await ended(JobState.JOB_STATE_OK)
    // What the stale one put is gone, and with it all work: one set is left.
    await sweptTo(`work/${jobId}`, [])
    expect(around.catalogue.published(jobId)).toHaveLength(1)
  })
  test('that wrote a set of its own late leaves no object of it', async () => {
    await create()
    const stale = aWorker('w1:a')
    await stale.step()
    await stale.step()
    const task = await stale.lease()
    await runOut()
    const other = aWorker('w2:a')
    const again = await other.lease()
    const late = await stale.make(task)
    await other.complete(again, await other.make(again))
    await expect(stale.complete(task, late)).rejects.toMatchObject(lost)
    await ended(JobState.JOB_STATE_OK)
    const prefix = setOf(again)
    await waitFor(async () => (await around.objects(`media/${mediaId}`)).every((name) => name.startsWith(`${prefix}/`)))
    expect(await around.objects(prefix)).toHaveLength(6)
  })
  test('which is asked for its answer again is told that all is well', async () => {
    await create()
    const worker = aWorker()
    await worker.step()
    await worker.step()
    const task = await worker.lease()
    const result = await worker.make(task)
    await worker.complete(task, result)
    await sweptTo(`work/${jobId}`, [])
    await worker.complete(task, result)
    expect(around.catalogue.published(jobId).length).toBeLessThanOrEqual(1)
    await ended(JobState.JOB_STATE_OK)
  })
})

test('a worker whose answer was lost asks again by the same name and gets its task, at no cost', async () => {
  await create()
  const ask = (name: string, workerId = 'w1:a') => service.work.leaseTask(anAsk({ workerId, ask: name, waitSeconds: 5 }), service.call)
  const { task } = await ask('1')
  expect(await ask('1')).toEqual({ task })
  await expect(ask('x'.repeat(101))).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'ask' }] })
  expect((await service.job(jobId)).attempt).toBe(1)
})

test('a worker that hangs up while its task is made ready holds none, at no cost', async () => {
  await create()
  const items = (state: string) => around.db.query(`select 1 from work_item where kind = 'probe' and state = $1`, [state])
  await waitFor(async () => (await items('waiting')).length === 1, { describe: 'the task' })
  const hangUp = new AbortController()
  await around.db.transaction(async (tx) => {
    // What makes a task ready locks its job first.
    await tx.query('select 1 from job where job_id = $1 for update', [jobId])
    const asked = service.work.leaseTask(anAsk({ workerId: 'w1:a', waitSeconds: 5 }), { ...service.call, signal: hangUp.signal })
    asked.catch(() => {})
    await waitFor(async () => (await items('leased')).length === 1, { describe: 'the task to be leased' })
    hangUp.abort()
    await expect(asked).rejects.toBeDefined()
    // Goes the same way behind it: once this is answered, that was heard.
    await service.job(jobId)
  })
  await waitFor(async () => (await items('waiting')).length === 1, { describe: 'the task to wait again' })
  const task = await aWorker('w2:a').lease()
  expect((await service.job(jobId)).attempt).toBe(1)
  await aWorker('w2:a').beat(task)
})

describe('a worker that is started again', () => {
  test('gets its task back at once, and the process before it is refused', async () => {
    await create()
    const before = aWorker('w1:first')
    const task = await before.lease()
    const after = aWorker('w1:second')
    const again = await after.lease()
    expect(again.taskId).toBe(task.taskId)
    await expect(before.beat(task)).rejects.toMatchObject(lost)
    await expect(before.lease()).rejects.toMatchObject({ reason: 'WORKER_SUPERSEDED' })
    expect((await service.job(jobId)).attempt).toBe(2)
    await after.beat(again)
  })
  test('leaves the tasks of other workers alone', async () => {
    await create()
    const other = aWorker('w2:first')
    const task = await other.lease()
    await service.work.leaseTask(anAsk({ workerId: 'w1:first' }), service.call)
    await other.beat(task)
  })
  test('by its own will has given its task back, which does not count', async () => {
    await create()
    const worker = aWorker()
    await worker.release(await worker.lease())
    const again = await worker.lease()
    expect((await service.job(jobId)).attempt).toBe(1)
    await worker.beat(again)
  })
})

describe('faults', () => {
  test('a job that kills its worker is given up after three attempts, and others go on', async () => {
    await create()
    const worker = (life: number) => aWorker(`w1:${life}`)
    for (const life of [1, 2, 3]) await worker(life).lease()
    await service.work.leaseTask(anAsk({ workerId: 'w1:4' }), service.call)
    await ended(JobState.JOB_STATE_FAILED)
    expect(await service.job(jobId)).toMatchObject({ code: 5001, attempt: 3 })
    await waitFor(() => around.catalogue.failed(jobId).length === 1)
    await sweptTo(`source/${jobId}`, [])
    jobId = another()
    await create(jobId)
    for (let steps = 0; steps < 3; steps++) await worker(4).step()
    await ended(JobState.JOB_STATE_OK)
  })
  test('a fault of the encoder is tried again twice, with the code of the last', async () => {
    await create()
    const worker = aWorker()
    await worker.fail(await worker.lease(), 5002)
    await worker.fail(await worker.lease(), 5002)
    await worker.fail(await worker.lease(), 5003, 'not what was planned')
    await ended(JobState.JOB_STATE_FAILED)
    await waitFor(() => around.catalogue.failed(jobId).length === 1)
    expect(around.catalogue.failed(jobId)).toEqual([{ code: 5003, message: 'not what was planned' }])
  })
  test('a fault of the source is final', async () => {
    await create()
    const worker = aWorker()
    await worker.fail(await worker.lease(), 4002, 'not a video')
    await ended(JobState.JOB_STATE_FAILED)
    expect(await service.job(jobId)).toMatchObject({ code: 4002, attempt: 1, message: 'not a video' })
  })
  test('a set that does not pass its verification is made of new segments', async () => {
    await create()
    const worker = aWorker()
    await worker.step()
    await worker.step()
    await worker.fail(await worker.lease(), 5003)
    expect((await worker.step()).kind).toBe(TaskKind.TASK_KIND_ENCODE)
    await worker.step()
    await ended(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(2)
  })
  test('a plan for another build is made again', async () => {
    await create()
    const worker = aWorker()
    await worker.step()
    await worker.fail(await worker.lease(), 5005)
    const kinds = [(await worker.step()).kind, (await worker.step()).kind, (await worker.step()).kind]
    expect(kinds).toEqual([TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE, TaskKind.TASK_KIND_PACKAGE])
    await ended(JobState.JOB_STATE_OK)
  })
  test.each([
    ['a chunk', 1, 5007],
    ['its verification', 2, 5003],
  ])('a copied picture in which %s finds a fault is encoded', async (_, steps, code) => {
    await create()
    const worker = aWorker()
    const { probe, build } = aProbe()
    const video = probe.video && { ...probe.video, copy: { frames: 125, kbps: 300 } }
    const found = { probe: { ...probe, ...(video && { video }) }, build }
    const copied = ({ inputJson }: Task) =>
      (JSON.parse(inputJson) as EncodeInput).plan.renditions.filter((made) => made.video?.copied).length
    await worker.complete(await worker.lease(), found)
    if (steps === 2) expect(copied(await worker.step())).toBe(1)
    const failed = await worker.lease()
    expect(copied(failed)).toBe(1)
    await worker.fail(failed, code)
    const again = await worker.lease()
    expect(again.kind).toBe(TaskKind.TASK_KIND_PROBE)
    await worker.complete(again, found)
    const encode = await worker.lease()
    expect(copied(encode)).toBe(0)
    await worker.complete(encode, await worker.make(encode))
    await worker.step()
    await ended(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(code === 5007 ? 1 : 2)
  })
  test('a set of which the storage lost a file is never visible', async () => {
    await create()
    const worker = aWorker()
    await worker.step()
    await worker.step()
    const task = await worker.lease()
    const result = await worker.make(task)
    await around.storage.delete(`${setOf(task)}/h264_250.mp4`)
    await expect(worker.complete(task, result)).rejects.toMatchObject(lost)
    expect(around.catalogue.published(jobId)).toHaveLength(0)
    await worker.step()
    await ended(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(1)
  })
  test('a job whose work was lost begins again', async () => {
    await create()
    await aWorker().lease()
    await around.db.query(`delete from work_item`)
    await around.db.query(`update job set create_time = now() - interval '1 hour'`)
    const worker = aWorker()
    for (let steps = 0; steps < 3; steps++) await worker.step()
    await ended(JobState.JOB_STATE_OK)
    expect((await service.job(jobId)).attempt).toBe(2)
    // Nothing of the plan before is mixed with it.
    expect(await around.db.query('select plan_number from job where job_id = $1', [jobId])).toEqual([{ plan_number: 2 }])
  })
})
