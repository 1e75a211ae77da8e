// Faults: R4, R11, C28
import { beforeEach, describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { JobState } from '@vitascope/proto/encoding/v1/job'
import { TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import { LIGHT_KINDS } from '../src/worker/run-task.ts'
import type { TestEnvironment } from './service-under-test.ts'
import { buildLongProbe, buildProbe, leaseRequest } from './stand-in-worker.ts'
import { leaseLostError, type Service, workUnderTest } from './work-under-test.ts'

const work = workUnderTest()
const { nextJobId, create, createWorker, expectSwept } = work
let environment: TestEnvironment
let service: Service
let jobId: string
let mediaId: string
beforeEach(() => {
  ;({ environment, service, jobId, mediaId } = work.now())
})
const cancel = (id = jobId) => work.cancel(id)
const waitUntilEnded = (state: JobState) => work.ended(jobId, state)

test('a video longer than the remaining minutes of the quota is not encoded', async () => {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, maxSeconds: 4.9 }, service.call)
  await createWorker().runNextTask()
  await waitUntilEnded(JobState.JOB_STATE_FAILED)
  const message = 'the video takes 5 s, but only 4.9 s of the monthly encoding minutes of the organisation were left'
  expect(await service.job(jobId)).toMatchObject({ code: 4003, message, attempt: 1 })
})

test('a video whose chunks exceed the remaining bytes of the quota fails', async () => {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, maxBytes: 10 }, service.call)
  const worker = createWorker()
  await worker.runNextTask()
  await worker.runNextTask()
  await waitUntilEnded(JobState.JOB_STATE_FAILED)
  const message = 'the video exceeds the 10 bytes that were left of the storage quota of the organisation'
  expect(await service.job(jobId)).toMatchObject({ code: 4003, message, attempt: 1 })
  for (const prefix of [`source/${jobId}`, `work/${jobId}`, `media/${mediaId}`]) await expectSwept(prefix, [])
})

test('a low-priority job does not progress while other jobs have tasks', async () => {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, lowPriority: true }, service.call)
  const worker = createWorker()
  expect(await worker.runNextTask()).toMatchObject({ jobId, kind: TaskKind.TASK_KIND_PROBE })
  const otherJobId = nextJobId()
  await create(otherJobId)
  await waitFor(async () => (await service.job(otherJobId)).state === JobState.JOB_STATE_PROBING)
  const done = []
  for (let step = 0; step < 5; step++) done.push((await worker.runNextTask()).jobId)
  expect(done).toEqual([otherJobId, otherJobId, otherJobId, jobId, jobId])
  await waitUntilEnded(JobState.JOB_STATE_OK)
})

test('the audio of a low-priority job does not start while other work waits, although audio has its own slots', async () => {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId, mediaId, organisationId: '1', sourceUrl, lowPriority: true }, service.call)
  const worker = createWorker()
  await worker.complete(await worker.lease(), buildLongProbe())
  const otherJobId = nextJobId()
  await create(otherJobId)
  await waitFor(async () => (await service.job(otherJobId)).state === JobState.JOB_STATE_PROBING)
  const probe = await worker.lease()
  expect(probe.jobId).toBe(otherJobId)
  await worker.complete(probe, buildProbe())
  const sound = async () => (await service.work.leaseTask(leaseRequest({ workerId: 'w1:a', kinds: LIGHT_KINDS }), service.call)).task
  expect(await sound()).toBeUndefined()
  expect(await worker.runNextTask()).toMatchObject({ jobId: otherJobId, kind: TaskKind.TASK_KIND_ENCODE })
  expect(await sound()).toBeUndefined()
  expect(await worker.runNextTask()).toMatchObject({ jobId: otherJobId, kind: TaskKind.TASK_KIND_PACKAGE })
  expect(await sound()).toMatchObject({ jobId, kind: TaskKind.TASK_KIND_AUDIO })
})

test('a job publishes a set from a URL, reports it, and keeps its source but no work files', async () => {
  await create()
  const worker = createWorker()
  const kinds = [(await worker.runNextTask()).kind, (await worker.runNextTask()).kind, (await worker.runNextTask()).kind]
  expect(kinds).toEqual([TaskKind.TASK_KIND_PROBE, TaskKind.TASK_KIND_ENCODE, TaskKind.TASK_KIND_PACKAGE])
  const set = await waitFor(() => environment.catalogue.published(jobId)[0])
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
  await expectSwept(`work/${jobId}`, [])
  expect(await environment.objects(`source/${jobId}`)).toHaveLength(1)
  expect(await environment.objects(set.prefix)).toHaveLength(6)
})

describe('creating jobs', () => {
  test('a repeated request creates one job', async () => {
    await Promise.all([create(), create(), create()])
    await create()
    expect(await environment.db.query('select 1 from job')).toHaveLength(1)
    expect(await environment.db.query(`select 1 from work_item where kind = 'fetch'`)).toHaveLength(1)
  })
  test('a job that was cancelled before its creation does not start', async () => {
    await cancel()
    await create()
    expect(await environment.db.query('select 1 from work_item')).toHaveLength(0)
    await expect(service.job(jobId)).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
  })
  test.each([
    ['job_id', { jobId: '0' }],
    ['job_id', { jobId: '12345678901234567890' }],
    ['media_id', { mediaId: '../1' }],
    ['organisation_id', { organisationId: '' }],
    ['source_url', { sourceUrl: 'file:///etc/passwd' }],
  ])('validates %s: %j', async (field, wrong) => {
    const request = { jobId, mediaId, organisationId: '1', sourceUrl: 'http://example.com/a', ...wrong }
    await expect(service.jobs.createJob(request, service.call)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field }] })
  })
  test('only services and the organisation read a job, and only services change it', async () => {
    await create()
    const user = (organisationId: string) => ({
      ...service.call,
      principal: { kind: 'user', keyId: '1', userId: '1', organisationId, userType: 'uploader' } as const,
    })
    expect((await service.jobs.getJob({ jobId }, user('1'))).job?.jobId).toBe(jobId)
    await expect(service.jobs.getJob({ jobId }, user('2'))).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
    await expect(service.jobs.cancelJob({ jobId }, user('1'))).rejects.toMatchObject({ kind: 'forbidden' })
    await expect(service.work.leaseTask(leaseRequest({ workerId: 'w:1' }), user('1'))).rejects.toMatchObject({
      kind: 'forbidden',
    })
  })
})

describe('a cancelled job', () => {
  test.each([
    ['while it waits for the worker', 0],
    ['while it encodes', 1],
    ['while it is packaged', 2],
  ])('%s stops and leaves no objects', async (_, steps) => {
    await create()
    const worker = createWorker()
    for (let done = 0; done < steps; done++) await worker.runNextTask()
    const task = await worker.lease()
    const result = await worker.make(task)
    await cancel()
    await expect(worker.extendLease(task)).rejects.toMatchObject(leaseLostError)
    await expect(worker.complete(task, result)).rejects.toMatchObject(leaseLostError)
    expect(await service.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_CANCELLED, code: 4005 })
    for (const prefix of [`source/${jobId}`, `work/${jobId}`, `media/${mediaId}`]) await expectSwept(prefix, [])
    expect(environment.catalogue.published(jobId)).toHaveLength(0)
    expect(environment.catalogue.failed(jobId)).toHaveLength(0)
  })
  test('during the download of its source stops the download', async () => {
    const closed = new Promise<void>((resolve) =>
      environment.origin.setHandler('/slow.mp4', (response) => {
        response.writeHead(200).write('a little')
        response.once('close', resolve)
      }),
    )
    await create(jobId, '/slow.mp4')
    await waitFor(() => environment.origin.hits('/slow.mp4') === 1)
    await cancel()
    await closed
    await expectSwept(`source/${jobId}`, [])
  })
  test('that had ended before is unchanged', async () => {
    await create()
    const worker = createWorker()
    for (let steps = 0; steps < 3; steps++) await worker.runNextTask()
    await cancel()
    expect((await service.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
    expect(await environment.objects(`media/${mediaId}`)).toHaveLength(6)
  })
})

describe('a job that the catalogue does not need', () => {
  test('is cancelled at its next report', async () => {
    environment.catalogue.unneeded.add(jobId)
    await create()
    await waitFor(async () => (await service.job(jobId)).state === JobState.JOB_STATE_CANCELLED)
    await expectSwept(`source/${jobId}`, [])
  })
  test('loses its objects when its publication is reported', async () => {
    await create()
    const worker = createWorker()
    for (let steps = 0; steps < 2; steps++) await worker.runNextTask()
    const task = await worker.lease()
    const { progress } = await service.job(jobId)
    // A later progress report would cancel the job before it is published.
    await waitFor(() => environment.catalogue.progress(jobId).at(-1) === progress)
    environment.catalogue.unneeded.add(jobId)
    await worker.complete(task, await worker.make(task))
    await expectSwept(`media/${mediaId}`, [])
    expect((await service.job(jobId)).state).toBe(JobState.JOB_STATE_OK)
  })
  test('loses its objects at a later check, after two such responses', async () => {
    await create()
    const worker = createWorker()
    for (let steps = 0; steps < 3; steps++) await worker.runNextTask()
    await waitFor(() => environment.catalogue.published(jobId).length === 1)
    expect(await environment.objects(`media/${mediaId}`)).toHaveLength(6)
    environment.catalogue.unneeded.add(jobId)
    await expectSwept(`media/${mediaId}`, [])
  })
  test('and does not know loses its objects when its failure is reported', async () => {
    environment.catalogue.unknown.add(jobId)
    await create()
    const worker = createWorker()
    await worker.fail(await worker.lease(), 4002)
    await waitFor(async () => (await environment.db.query('select 1 from outbox')).length === 0)
    await expectSwept(`source/${jobId}`, [])
  })
})

describe('reports', () => {
  test('have growing revisions and progress, and are retried while the catalogue is unavailable', async () => {
    await create()
    const worker = createWorker()
    await worker.runNextTask()
    const task = await worker.lease()
    for (const done of [0.2, 0.4, 0.3, 0.8]) await worker.extendLease(task, done)
    await waitFor(() => environment.catalogue.progress(jobId).includes(78))
    await worker.complete(task, await worker.make(task))
    environment.catalogue.error = new DomainError('unavailable', 'AWAY', 'away')
    await worker.runNextTask()
    await waitUntilEnded(JobState.JOB_STATE_OK)
    expect(environment.catalogue.published(jobId)).toHaveLength(0)
    environment.catalogue.error = undefined
    await waitFor(() => environment.catalogue.published(jobId).length === 1)
    const revisions = environment.catalogue.reports.map((report) => report.revision)
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b))
    const progress = environment.catalogue.progress(jobId)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    expect(progress.every((percent) => percent >= 5 && percent <= 99)).toBe(true)
  })
})

test('organisations share the workers', async () => {
  const worker = createWorker()
  const waiting = (kind: string, count: number) =>
    waitFor(
      async () => (await environment.db.query(`select 1 from work_item where state = 'waiting' and kind = $1`, [kind])).length === count,
    )
  for (let i = 0; i < 5; i++) await create(nextJobId())
  await waiting('probe', 5)
  for (let i = 0; i < 5; i++) await worker.runNextTask()
  await waiting('encode', 5)
  const last = nextJobId()
  await service.jobs.createJob(
    { jobId: last, mediaId: '7', organisationId: '2', sourceUrl: environment.origin.url('/video.mp4') },
    service.call,
  )
  await waiting('probe', 1)
  expect((await worker.runNextTask()).jobId).toBe(last)
  // At most one job of the other organisation precedes it.
  const encoded = [await worker.runNextTask(), await worker.runNextTask(), await worker.runNextTask()]
  expect(encoded.map((task) => task.jobId)).toContain(last)
})
