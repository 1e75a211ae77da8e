import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { type Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import type { EncodeInput, PackageInput } from '../src/work/task.ts'
import { LIGHT_KINDS } from '../src/worker/run-task.ts'
import { type Surroundings, startHere, startSurroundings } from './service-under-test.ts'
import { aLongProbe, anAsk, aProbe, standInWorker } from './stand-in-worker.ts'

let around: Surroundings
let service: Awaited<ReturnType<typeof startHere>>
let nextJob = 1
let jobId: string
let mediaId: string

beforeAll(async () => {
  around = await startSurroundings()
  around.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
beforeEach(async () => {
  await around.db.query('truncate job, chunk, segment, object_prefix, worker, work_item, outbox')
  Object.assign(around.catalogue, { reports: [], refusal: undefined })
  service = await startHere(around)
  jobId = String(nextJob++)
  mediaId = `9${jobId}`
})
afterEach(() => service.stop())
afterAll(() => around.close())

const create = (id = jobId, path = '/video.mp4') =>
  service.jobs.createJob({ jobId: id, mediaId: `9${id}`, organisationId: '1', sourceUrl: around.origin.url(path) }, service.call)
const cancel = (id = jobId) => service.jobs.cancelJob({ jobId: id }, service.call)
const aWorker = (id = 'w1:a') => standInWorker(service, around.storage, id)
const ended = (state: JobState) =>
  waitFor(async () => (await service.job(jobId)).state === state, { describe: `job ${jobId} to be ${state}` })
/** Where a task that makes a set was told to put it. */
const setOf = (task: Task) => (JSON.parse(task.inputJson) as PackageInput).setPrefix
const lost = { kind: 'refused', reason: 'LEASE_LOST' }
/** As if a lease had run out: its row is the only clock there is. */
const runOut = () => around.db.query(`update work_item set lease_end = now() - interval '1 second' where state = 'leased'`)
const sweptTo = (prefix: string, left: string[]) =>
  waitFor(async () => (await around.objects(prefix)).join() === left.join(), { describe: `${prefix} to hold ${left.length} objects` })

test('a video that is longer than the minutes left of the quota of its organisation is not encoded', async () => {
  const sourceUrl = around.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, maxSeconds: 4.9 }, service.call)
  await aWorker().step()
  await ended(JobState.JOB_STATE_FAILED)
  const message = 'the video takes 5 s, and 4.9 s were left of the minutes that the organisation may encode a month'
  expect(await service.job(jobId)).toMatchObject({ code: 4003, message, attempt: 1 })
})

test('a video whose chunks come to more than the quota of its organisation leaves is given up, however large its source is', async () => {
  const sourceUrl = around.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, maxBytes: 10 }, service.call)
  const worker = aWorker()
  await worker.step()
  await worker.step()
  await ended(JobState.JOB_STATE_FAILED)
  const message = 'the video takes more than the 10 bytes that were left of what the organisation may store'
  expect(await service.job(jobId)).toMatchObject({ code: 4003, message, attempt: 1 })
  for (const kind of ['source', 'work', 'renditions']) await sweptTo(`${kind}/${jobId}`, [])
})

test('a job that gives way gets nothing done while there is work of others, of whatever kind', async () => {
  const sourceUrl = around.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, givesWay: true }, service.call)
  const worker = aWorker()
  expect(await worker.step()).toMatchObject({ jobId, kind: TaskKind.TASK_KIND_PROBE })
  const other = String(nextJob++)
  await create(other)
  await waitFor(async () => (await service.job(other)).state === JobState.JOB_STATE_PROBING)
  const done = []
  for (let step = 0; step < 5; step++) done.push((await worker.step()).jobId)
  expect(done).toEqual([other, other, other, jobId, jobId])
  await ended(JobState.JOB_STATE_OK)
})

test('the sound of a job that gives way is not begun beside what waits of others, although sound has places of its own', async () => {
  const sourceUrl = around.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, givesWay: true }, service.call)
  const worker = aWorker()
  await worker.complete(await worker.lease(), aLongProbe())
  const other = String(nextJob++)
  await create(other)
  await waitFor(async () => (await service.job(other)).state === JobState.JOB_STATE_PROBING)
  const probe = await worker.lease()
  expect(probe.jobId).toBe(other)
  await worker.complete(probe, aProbe())
  const sound = async () => (await service.work.leaseTask(anAsk({ workerId: 'w1:a', kinds: LIGHT_KINDS }), service.call)).task
  expect(await sound()).toBeUndefined()
  expect(await worker.step()).toMatchObject({ jobId: other, kind: TaskKind.TASK_KIND_ENCODE })
  expect(await sound()).toBeUndefined()
  expect(await worker.step()).toMatchObject({ jobId: other, kind: TaskKind.TASK_KIND_PACKAGE })
  expect(await sound()).toMatchObject({ jobId, kind: TaskKind.TASK_KIND_AUDIO })
})

test('a job goes from its URL to a reported set, and leaves nothing else in storage but its source', async () => {
  await create()
  const worker = aWorker()
  const kinds = [(await worker.step()).kind, (await worker.step()).kind, (await worker.step()).kind]
  expect(kinds).toEqual([TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE, TaskKind.TASK_KIND_PACKAGE])
  const set = await waitFor(() => around.catalogue.published(jobId)[0])
  expect(set.renditions.map((rendition) => rendition.key)).toEqual([
    'h264_100',
    'h264_250',
    'h264_360',
    'h264_500',
    'h264_800',
    'h264_1200',
  ])
  expect(set).toMatchObject({
    jobId,
    durationSeconds: 5,
    width: 320,
    height: 180,
    hasVideo: true,
    hasAudio: false,
    hlsPath: 'hls/master.m3u8',
  })
  expect(set.prefix).toMatch(new RegExp(`^media/${mediaId}/${jobId}-\\d+-[0-9a-f]{12}$`))
  const job = await service.job(jobId)
  expect(job).toMatchObject({ state: JobState.JOB_STATE_OK, progress: 100, attempt: 1, code: 0 })
  expect(job.renditions).toHaveLength(6)
  await sweptTo(`work/${jobId}`, [])
  expect(await around.objects(`source/${jobId}`)).toHaveLength(1)
  expect(await around.objects(set.prefix)).toHaveLength(6)
})

describe('taking jobs', () => {
  test('the same job twice is one job', async () => {
    await Promise.all([create(), create(), create()])
    await create()
    expect(await around.db.query('select 1 from job')).toHaveLength(1)
    expect(await around.db.query(`select 1 from work_item where kind = 'fetch'`)).toHaveLength(1)
  })
  test('a job that was cancelled before it came never begins', async () => {
    await cancel()
    await create()
    expect(await around.db.query('select 1 from work_item')).toHaveLength(0)
    await expect(service.job(jobId)).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
  })
  test.each([
    ['job_id', { jobId: '0' }],
    ['job_id', { jobId: '12345678901234567890' }],
    ['media_id', { mediaId: '../1' }],
    ['organisation_id', { organisationId: '' }],
    ['source_url', { sourceUrl: 'file:///etc/passwd' }],
  ])('%s is checked: %j', async (field, wrong) => {
    const request = { jobId, mediaId, organisationId: '1', sourceUrl: 'http://example.com/a', ...wrong }
    await expect(service.jobs.createJob(request, service.call)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field }] })
  })
  test('a job is shown to its organisation and to services only, and taken from services only', async () => {
    await create()
    const user = (organisationId: string) => ({
      ...service.call,
      principal: { kind: 'user', keyId: '1', userId: '1', organisationId, userType: 'uploader' } as const,
    })
    expect((await service.jobs.getJob({ jobId }, user('1'))).job?.jobId).toBe(jobId)
    await expect(service.jobs.getJob({ jobId }, user('2'))).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
    await expect(service.jobs.cancelJob({ jobId }, user('1'))).rejects.toMatchObject({ kind: 'forbidden' })
    await expect(service.work.leaseTask(anAsk({ workerId: 'w:1' }), user('1'))).rejects.toMatchObject({
      kind: 'forbidden',
    })
  })
})

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
    jobId = String(nextJob++)
    await create()
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

describe('a cancelled job', () => {
  test.each([
    ['while it waits for the worker', 0],
    ['while it encodes', 1],
    ['while it is packaged', 2],
  ])('%s stops, and leaves nothing', async (_, steps) => {
    await create()
    const worker = aWorker()
    for (let done = 0; done < steps; done++) await worker.step()
    const task = await worker.lease()
    const result = await worker.make(task)
    await cancel()
    await expect(worker.beat(task)).rejects.toMatchObject(lost)
    await expect(worker.complete(task, result)).rejects.toMatchObject(lost)
    expect(await service.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_CANCELLED, code: 4005 })
    for (const prefix of [`source/${jobId}`, `work/${jobId}`, `media/${mediaId}`]) await sweptTo(prefix, [])
    expect(around.catalogue.published(jobId)).toHaveLength(0)
    expect(around.catalogue.failed(jobId)).toHaveLength(0)
  })
  test('while its source comes in stops the download', async () => {
    const closed = new Promise<void>((resolve) =>
      around.origin.answer('/slow.mp4', (response) => {
        response.writeHead(200).write('a little')
        response.once('close', resolve)
      }),
    )
    await create(jobId, '/slow.mp4')
    await waitFor(() => around.origin.hits('/slow.mp4') === 1)
    await cancel()
    await closed
    await sweptTo(`source/${jobId}`, [])
  })
  test('after its end stays as it is', async () => {
    await create()
    const worker = aWorker()
    for (let steps = 0; steps < 3; steps++) await worker.step()
    await cancel()
    expect((await service.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
    expect(await around.objects(`media/${mediaId}`)).toHaveLength(6)
  })
})

describe('a job that catalogue does not want', () => {
  test('ends with the answer to its next report', async () => {
    around.catalogue.unwanted.add(jobId)
    await create()
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_CANCELLED)
    await sweptTo(`source/${jobId}`, [])
  })
  test('although it is published loses its objects', async () => {
    await create()
    const worker = aWorker()
    for (let steps = 0; steps < 2; steps++) await worker.step()
    const task = await worker.lease()
    around.catalogue.unwanted.add(jobId)
    await worker.complete(task, await worker.make(task))
    await sweptTo(`media/${mediaId}`, [])
    expect((await service.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
  })
  test('any more, long after it was published, loses its objects once the answer is the same twice', async () => {
    await create()
    const worker = aWorker()
    for (let steps = 0; steps < 3; steps++) await worker.step()
    await waitFor(() => around.catalogue.published(jobId).length === 1)
    expect(await around.objects(`media/${mediaId}`)).toHaveLength(6)
    around.catalogue.unwanted.add(jobId)
    await sweptTo(`media/${mediaId}`, [])
  })
  test('because it never knew it is dropped', async () => {
    around.catalogue.unknown.add(jobId)
    await create()
    const worker = aWorker()
    await worker.fail(await worker.lease(), 4002)
    await waitFor(async () => (await around.db.query('select 1 from outbox')).length === 0)
    await sweptTo(`source/${jobId}`, [])
  })
})

describe('reports', () => {
  test('grow in revision and in progress, and wait for a catalogue that is away', async () => {
    await create()
    const worker = aWorker()
    await worker.step()
    const task = await worker.lease()
    for (const done of [0.2, 0.4, 0.3, 0.8]) await worker.beat(task, done)
    await waitFor(() => around.catalogue.progress(jobId).includes(78))
    await worker.complete(task, await worker.make(task))
    around.catalogue.refusal = new DomainError('unavailable', 'AWAY', 'away')
    await worker.step()
    await ended(JobState.JOB_STATE_OK)
    expect(around.catalogue.published(jobId)).toHaveLength(0)
    around.catalogue.refusal = undefined
    await waitFor(() => around.catalogue.published(jobId).length === 1)
    const revisions = around.catalogue.reports.map((report) => report.revision)
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b))
    const progress = around.catalogue.progress(jobId)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    expect(progress.every((percent) => percent >= 5 && percent <= 99)).toBe(true)
  })
})

test('organisations share the workers', async () => {
  const worker = aWorker()
  const waiting = (kind: string, count: number) =>
    waitFor(async () => (await around.db.query(`select 1 from work_item where state = 'waiting' and kind = $1`, [kind])).length === count)
  for (let i = 0; i < 5; i++) await create(String(nextJob++))
  await waiting('probe', 5)
  for (let i = 0; i < 5; i++) await worker.step()
  await waiting('encode', 5)
  const last = String(nextJob++)
  await service.jobs.createJob({ jobId: last, mediaId: '7', organisationId: '2', sourceUrl: around.origin.url('/video.mp4') }, service.call)
  await waiting('probe', 1)
  expect((await worker.step()).jobId).toBe(last)
  // One whole job of the other organisation at most goes before.
  const encoded = [await worker.step(), await worker.step(), await worker.step()]
  expect(encoded.map((task) => task.jobId)).toContain(last)
})
