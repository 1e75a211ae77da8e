import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type CreateRenditionJobRequest, JobState } from '@vitascope/proto/encoding/v1/job'
import { PictureCodec } from '@vitascope/proto/encoding/v1/picture_codec'
import { TaskKind } from '@vitascope/proto/encoding/v1/work'
import { waitFor } from '@vitascope/testing'
import type { ProbeResult } from '../src/task/task.ts'
import { startInProcess, startTestEnvironment, type TestEnvironment } from './service-under-test.ts'
import { buildProbe, createStandInWorker, requireInput } from './stand-in-worker.ts'

let environment: TestEnvironment
let service: Awaited<ReturnType<typeof startInProcess>>
let setJobId = '1'
let jobId: string

beforeAll(async () => {
  environment = await startTestEnvironment()
  environment.origin.serve('/video.mp4', Buffer.from('the bytes of a source'))
})
beforeEach(async () => {
  await environment.deleteJobs()
  Object.assign(environment.catalogue, { reports: [], error: undefined, unneeded: new Set() })
  service = await startInProcess(environment)
  setJobId = String(Number(setJobId) + 2)
  jobId = String(Number(setJobId) + 1)
})
afterEach(() => service.stop())
afterAll(() => environment.close())

const createWorker = (id = 'w1:a') => createStandInWorker(service, environment.storage, id)
const profile = { codec: PictureCodec.PICTURE_CODEC_AV1, label: 250, shortSide: 360, audioKbps: 64 }
const request = () => ({ jobId, mediaId: `9${setJobId}`, organisationId: '1', setJobId, profile })
const add = (overrides: Partial<CreateRenditionJobRequest> = {}) =>
  service.jobs.createRenditionJob({ ...request(), ...overrides }, service.call)
const probeResult: ProbeResult = { ...buildProbe(), build: { version: 'n7.0', toneMap: false, codecs: ['h264', 'hevc', 'av1'] } }

/** Publishes a set of six renditions. */
async function publishSet() {
  const sourceUrl = environment.origin.url('/video.mp4')
  await service.jobs.createJob({ jobId: setJobId, mediaId: `9${setJobId}`, organisationId: '1', sourceUrl }, service.call)
  for (let step = 0; step < 3; step++) await createWorker().runNextTask()
  return waitFor(() => environment.catalogue.published(setJobId)[0])
}

test('a rendition is encoded from the source and stored below its own prefix, without changing the set', async () => {
  const set = await publishSet()
  const objects = await environment.objects(set.prefix)
  await add()
  const worker = createWorker()
  const probe = await worker.lease()
  expect(requireInput(probe, 'probe').source.object).toMatch(new RegExp(`^source/${setJobId}/.*/source$`))
  await worker.complete(probe, probeResult)
  const encode = await worker.lease()
  const { plan } = requireInput(encode, 'encode')
  expect(plan.renditions).toMatchObject([{ key: 'av1_250', label: 250, video: { width: 320, height: 180, codec: 'av1' } }])
  expect(plan.images).toEqual([])
  await worker.complete(encode, await worker.make(encode))
  expect((await worker.runNextTask()).kind).toBe(TaskKind.TASK_KIND_PACKAGE)
  const added = await waitFor(() => environment.catalogue.published(jobId)[0])
  expect(added).toMatchObject({ jobId, renditions: [{ key: 'av1_250', path: 'av1_250.mp4' }], posterPath: '', thumbnails: [] })
  expect(added.prefix).toMatch(new RegExp(`^media/9${setJobId}/${jobId}-`))
  expect(await environment.objects(set.prefix)).toEqual(objects)
  expect(environment.catalogue.reports.filter((report) => report.jobId === jobId && report.update?.$case === 'playable')).toEqual([])
  await waitFor(async () => (await environment.objects(`work/${jobId}`)).length === 0)
  // A repeated request changes nothing, even after the set was removed.
  await add()
  expect(await service.job(jobId)).toMatchObject({ state: JobState.JOB_STATE_OK, attempt: 1 })
})

test('a source that is not kept is removed on publishing; an added rendition is then encoded from the largest file of the set', async () => {
  await service.stop()
  const { source } = environment.config()
  service = await startInProcess(environment, { source: { ...source, keepsSources: false } })
  const set = await publishSet()
  await waitFor(async () => (await environment.objects(`source/${setJobId}`)).length === 0, { describe: 'the source to be removed' })
  await add()
  const probe = await createWorker().lease()
  expect(requireInput(probe, 'probe').source.object).toMatch(new RegExp(`^${set.prefix}/h264_\\d+\\.mp4$`))
})

test('a kept source is removed with its set', async () => {
  await publishSet()
  expect(await environment.objects(`source/${setJobId}`)).toHaveLength(1)
  environment.catalogue.unneeded.add(setJobId)
  await waitFor(async () => (await environment.objects(`source/${setJobId}`)).length === 0, { describe: 'the source to be removed' })
})

test('a lost worker costs one attempt and leaves no objects, and a cancelled rendition ends', async () => {
  const set = await publishSet()
  await add()
  await createWorker('w1:a').lease()
  const next = createWorker('w1:b')
  const probe = await next.lease()
  expect((await service.job(jobId)).attempt).toBe(2)
  await next.complete(probe, probeResult)
  const encode = await next.lease()
  const result = await next.make(encode)
  await service.jobs.cancelJob({ jobId }, service.call)
  await expect(next.complete(encode, result)).rejects.toMatchObject({ reason: 'LEASE_LOST' })
  await waitFor(async () => (await environment.objects(`work/${jobId}`)).length === 0)
  expect((await environment.objects(set.prefix)).length).toBeGreaterThan(0)
})

test.each([
  ['an encoder that the ffmpeg of the workers lacks', buildProbe(), 5006, /no encoder libsvtav1/],
  ['a set without a picture', { ...probeResult, probe: audioOnly() }, 4002, /no video stream/],
])('%s fails the job without a retry', async (_, result, code, message) => {
  await publishSet()
  await add()
  const worker = createWorker()
  await worker.complete(await worker.lease(), result)
  await waitFor(() => environment.catalogue.failed(jobId).length === 1)
  expect(environment.catalogue.failed(jobId)).toEqual([{ code, message: expect.stringMatching(message) }])
  expect(await service.job(jobId)).toMatchObject({ attempt: 1 })
})

test.each([
  [['profile.codec'], { profile: { ...profile, codec: PictureCodec.PICTURE_CODEC_UNSPECIFIED } }],
  [['profile.label', 'profile.short_side', 'profile.audio_kbps'], { profile: { ...profile, label: 49, shortSide: 4_321, audioKbps: 33 } }],
  [['set_job_id'], { setJobId: '0' }],
  [['job_id'], { jobId: '../1' }],
])('validates %j', async (fields, wrong) => {
  const rejected = add(wrong)
  await expect(rejected).rejects.toMatchObject({ kind: 'invalid', fields: fields.map((field) => ({ field })) })
})

test('rejects a rendition of a media without a set', async () => {
  await expect(add()).rejects.toMatchObject({ kind: 'invalid', reason: 'SET_NOT_FOUND' })
  await publishSet()
  await expect(add({ mediaId: '8' })).rejects.toMatchObject({ reason: 'SET_NOT_FOUND' })
})

function audioOnly(): ProbeResult['probe'] {
  const { video: _, ...probe } = buildProbe().probe
  return probe
}

test('a low-priority rendition does not start while an upload waits', async () => {
  await publishSet()
  await add({ lowPriority: true })
  const otherJobId = String(Number(setJobId) + 1_000)
  await service.jobs.createJob(
    { jobId: otherJobId, mediaId: `9${otherJobId}`, organisationId: '1', sourceUrl: environment.origin.url('/video.mp4') },
    service.call,
  )
  await waitFor(async () => (await service.job(otherJobId)).state === JobState.JOB_STATE_PROBING)
  const worker = createWorker()
  const done = [await worker.runNextTask(), await worker.runNextTask(), await worker.runNextTask()].map((task) => task.jobId)
  expect([...done, (await worker.lease()).jobId]).toEqual([otherJobId, otherJobId, otherJobId, jobId])
})
