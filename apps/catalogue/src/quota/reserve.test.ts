// Faults: R12
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { recordFigure } from '@vitascope/testing'
import { buildOrganisation, buildRenditionSet, createCall, createUpload } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import type { Quota } from '../organisation-replica/organisation.ts'
import { createPresentationStore } from '../presentation/presentation-store.ts'
import { createSlideJobStore } from '../presentation/slide-job-store.ts'
import { createStaleEncodeJobs } from '../publishing/job/stale-encode-jobs-store.ts'
import { ESTIMATE } from './quota.ts'
import { readUsage } from './reserve.ts'

let catalogue: CatalogueDatabase
let organisationId: string
let revision = 1
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(async () => {
  organisationId = String(++revision + 100)
  await limit({})
})
afterAll(() => catalogue.close())

const MIB = 1024 ** 2
const limit = (quota: Quota) => catalogue.organisations.apply(buildOrganisation({ organisationId, revision: ++revision, quota }))
const upload = () => catalogue.uploads.accept(createUpload({}, { organisationId }), createCall())
const replace = (mediaId: string) =>
  catalogue.media.replace(
    { scope: organisationId, mediaId },
    { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false },
    createCall(),
  )
const publish = (jobId: string, bytes: number, durationSeconds = 6) =>
  catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId, { bytes, durationSeconds }) }, 9)
const usage = () => readUsage(catalogue.db.query, organisationId)
const remove = (mediaId: string) => catalogue.media.remove({ scope: organisationId, mediaId }, { userId: '7', callerId: '7', notes: '' })
const job = (jobId: string) => catalogue.jobs.find(organisationId, jobId)

describe('bytes', () => {
  test('are reserved with the job, settled once by its result, and released with the media', async () => {
    await limit({ bytes: 100 * MIB, minutesPerMonth: 60 })
    const { jobId, mediaId } = await upload()
    expect(await usage()).toEqual({ bytes: 0, reservedBytes: ESTIMATE.bytes, ms: 0, reservedMs: ESTIMATE.ms, jobs: 1 })
    await publish(jobId, 3 * MIB, 12.48)
    const settled = { bytes: 3 * MIB, reservedBytes: 0, ms: 12_480, reservedMs: 0, jobs: 0 }
    expect(await usage()).toEqual(settled)
    await Promise.all([publish(jobId, 3 * MIB), publish(jobId, 5 * MIB)])
    expect(await usage()).toEqual(settled)
    await remove(mediaId)
    expect(await usage()).toEqual({ ...settled, bytes: 0 })
  })
  test('are released by a failure, a cancellation and the deletion of the media', async () => {
    const [failed, cancelled, deleted] = await Promise.all([upload(), upload(), upload()])
    expect(await usage()).toMatchObject({ reservedBytes: 3 * ESTIMATE.bytes, jobs: 3 })
    await catalogue.jobs.apply(failed.jobId, { kind: 'failed', code: 4002, message: '' }, 1)
    await catalogue.jobs.cancel(organisationId, cancelled.jobId)
    await remove(deleted.mediaId)
    expect(await usage()).toEqual({ bytes: 0, reservedBytes: 0, ms: 0, reservedMs: 0, jobs: 0 })
  })
  test('of a replacement replace those of the previous set, and its minutes are added', async () => {
    const { jobId, mediaId } = await upload()
    await publish(jobId, 5 * MIB)
    await replace(mediaId)
    const { jobId: last } = await replace(mediaId)
    expect(await usage()).toMatchObject({ bytes: 5 * MIB, reservedBytes: ESTIMATE.bytes - 5 * MIB, jobs: 1 })
    await publish(last, 2 * MIB)
    expect(await usage()).toMatchObject({ bytes: 2 * MIB, reservedBytes: 0, ms: 12_000 })
  })
  test('beyond the quota are rejected, and the job fails with 4003 and a message', async () => {
    await limit({ bytes: 20 * MIB })
    const [large, small] = [await upload(), await upload()]
    expect(await publish(large.jobId, 12 * MIB + 1)).toBe(false)
    expect(await job(large.jobId)).toMatchObject({
      ...{ state: 'failed', code: 4003, message: expect.stringContaining(`of ${20 * MIB} bytes`) },
    })
    expect(await publish(small.jobId, 20 * MIB)).toBe(true)
    expect(await usage()).toMatchObject({ bytes: 20 * MIB, reservedBytes: 0 })
    await expect(upload()).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
    expect(await catalogue.videos.find(organisationId, small.videoId)).toMatchObject({ status: { state: 'ok' } })
    await remove(small.mediaId)
    await upload()
  })
  test('of the replaced files are available to a replacement, so it is accepted when the quota is used up', async () => {
    await limit({ bytes: 20 * MIB })
    const { jobId, mediaId } = await upload()
    await publish(jobId, 20 * MIB)
    await expect(upload()).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
    const { jobId: second } = await replace(mediaId)
    expect((await catalogue.messages()).find(({ payload }) => payload.jobId === second)?.payload).toMatchObject({ maxBytes: 20 * MIB })
    expect(await usage()).toMatchObject({ bytes: 20 * MIB, reservedBytes: 0, jobs: 1 })
    expect(await publish(second, 20 * MIB + 1)).toBe(false)
    const { jobId: third } = await replace(mediaId)
    expect(await publish(third, 5 * MIB)).toBe(true)
    expect(await usage()).toMatchObject({ bytes: 5 * MIB, reservedBytes: 0 })
    const { jobId: fourth } = await replace(mediaId)
    expect(await usage()).toMatchObject({ reservedBytes: ESTIMATE.bytes - 5 * MIB })
    expect(await publish(fourth, 20 * MIB)).toBe(true)
  })
  test('that were reserved before the quota was lowered may be used, and existing files stay', async () => {
    await limit({ bytes: 100 * MIB })
    const [published, active] = [await upload(), await upload()]
    await publish(published.jobId, 50 * MIB)
    await limit({ bytes: 1 })
    await expect(upload()).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
    expect(await publish(active.jobId, 40 * MIB)).toBe(true)
    expect(await usage()).toMatchObject({ bytes: 90 * MIB })
  })
  test('never exceed the quota under twenty concurrent uploads and results', async () => {
    await limit({ bytes: 60 * MIB })
    const responses = await Promise.allSettled(Array.from({ length: 20 }, upload))
    const accepted = responses.flatMap((response) => (response.status === 'fulfilled' ? [response.value] : []))
    for (const response of responses) if (response.status === 'rejected') expect(response.reason).toMatchObject({ reason: 'QUOTA_BYTES' })
    expect(accepted).toHaveLength(8)
    expect(await usage()).toMatchObject({ reservedBytes: 60 * MIB, jobs: 8 })
    const arePublished = await Promise.all(accepted.map(({ jobId }) => publish(jobId, 9 * MIB)))
    const { bytes, reservedBytes } = await usage()
    recordFigure('R12', `20 concurrent uploads at the quota, ${accepted.length} accepted, ${bytes / MIB} of 60 MiB used`)
    expect(bytes).toBe(arePublished.filter(Boolean).length * 9 * MIB)
    expect(bytes).toBeLessThanOrEqual(60 * MIB)
    expect(arePublished.filter(Boolean).length).toBeGreaterThan(0)
    expect(reservedBytes).toBe(0)
  })
})

describe('minutes', () => {
  test('count in the month in which a job was accepted, and stay when its media is deleted', async () => {
    await limit({ minutesPerMonth: 2 })
    const [before, now] = [await upload(), await upload()]
    await catalogue.db.query(`update job set quota_month = '2020-01-01' where job_id = $1`, [before.jobId])
    expect(await usage()).toMatchObject({ ms: 0, reservedMs: ESTIMATE.ms })
    await publish(before.jobId, 10, 119)
    await publish(now.jobId, 10, 119)
    expect(await usage()).toMatchObject({ ms: 119_000, reservedMs: 0 })
    await remove(now.mediaId)
    const { jobId } = await upload()
    expect(await usage()).toMatchObject({ ms: 119_000, reservedMs: 1_000 })
    await expect(upload()).rejects.toMatchObject({ reason: 'QUOTA_MINUTES', message: expect.stringContaining('1.98 are used') })
    expect(await publish(jobId, 10, 1.001)).toBe(false)
    expect(await job(jobId)).toMatchObject({ code: 4003, message: expect.stringContaining('minutes') })
  })
  test('of a source are reserved when it is probed, and the job fails if too few are left', async () => {
    await limit({ minutesPerMonth: 600 })
    const [first, second] = [await upload(), await upload()]
    const reportProbe = (jobId: string, minutes: number, at: number) =>
      catalogue.jobs.apply(jobId, { kind: 'progress', percent: 20, sourceMs: minutes * 60_000 }, at)
    expect(await reportProbe(first.jobId, 500, 1)).toBe(true)
    expect(await usage()).toMatchObject({ ms: 0, reservedMs: 501 * 60_000, jobs: 2 })
    expect(await reportProbe(first.jobId, 500, 2)).toBe(true)
    expect(await reportProbe(second.jobId, 101, 1)).toBe(false)
    expect(await job(second.jobId)).toMatchObject({
      state: 'failed',
      code: 4003,
      message: expect.stringContaining('this takes 101 minutes'),
    })
    expect(await usage()).toMatchObject({ reservedMs: 500 * 60_000, jobs: 1 })
    const third = await upload()
    expect(await reportProbe(third.jobId, 100, 1)).toBe(true)
    await expect(upload()).rejects.toMatchObject({ reason: 'QUOTA_MINUTES' })
    expect(await publish(first.jobId, 10, 500 * 60)).toBe(true)
    await catalogue.jobs.cancel(organisationId, third.jobId)
    expect(await usage()).toMatchObject({ ms: 500 * 60_000, reservedMs: 0 })
  })
  test('and bytes that remain are sent to encoding with a new job and when a job is sent again', async () => {
    await limit({ bytes: 9 * MIB, minutesPerMonth: 3 })
    const { jobId } = await upload()
    const received = (await catalogue.messages()).find(({ payload }) => payload.jobId === jobId)
    const remainingQuota = { jobId, maxBytes: 9 * MIB, maxSeconds: 180 }
    expect(received?.payload).toMatchObject(remainingQuota)
    await catalogue.db.query(`update job set check_time = now() - interval '1 hour' where job_id = $1`, [jobId])
    const staleJobs = await createStaleEncodeJobs(catalogue.db, catalogue.enqueue).claim(600)
    expect(staleJobs).toEqual([expect.objectContaining(remainingQuota)])
  })
})

describe('active jobs', () => {
  test('never exceed the quota under concurrent uploads, and a finished job allows another one', async () => {
    await limit({ concurrentJobs: 5 })
    const responses = await Promise.allSettled(Array.from({ length: 20 }, upload))
    const accepted = responses.flatMap((response) => (response.status === 'fulfilled' ? [response.value] : []))
    expect(accepted).toHaveLength(5)
    await expect(upload()).rejects.toMatchObject({ reason: 'TOO_MANY_JOBS', retryAfter: expect.any(Number) })
    const [first] = accepted
    if (!first) throw new Error('none was accepted')
    // The job that the replacement cancels no longer counts.
    const { jobId } = await replace(first.mediaId)
    expect(await usage()).toMatchObject({ jobs: 5 })
    await catalogue.jobs.cancel(organisationId, jobId)
    await upload()
  })
  test('of other organisations do not count', async () => {
    await limit({ concurrentJobs: 1 })
    await upload()
    await catalogue.upload()
  })
})

test('a rejection stores nothing, and its idempotency key can be used again', async () => {
  await limit({ bytes: 0 })
  const count = async () =>
    (await catalogue.db.query<{ n: string }>('select count(*) as n from media where organisation_id = $1', [organisationId]))[0]?.n
  const call = createCall({ key: `quota-${organisationId}`.padEnd(64, '0'), fingerprint: 'f'.repeat(64) })
  const send = () => catalogue.uploads.accept(createUpload({}, { organisationId }), call)
  await expect(send()).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
  expect(await count()).toBe('0')
  await limit({})
  await send()
})

test('slides count with their documents, use no minutes, and are released with their presentation', async () => {
  await limit({ bytes: 20 * MIB, minutesPerMonth: 0 })
  const slides = createSlideJobStore(catalogue.db, catalogue.enqueue)
  const source = (object: string, sourceBytes: number) => ({
    ...{
      presentationId: '',
      organisationId,
      userId: '7',
      filename: 'a.pdf',
      title: 'a',
      sourceObject: `${organisationId}/${object}`,
      sourceBytes,
    },
  })
  await expect(slides.add(source('a', 21 * MIB))).rejects.toMatchObject({ reason: 'QUOTA_BYTES' })
  const { jobId, presentationId } = await slides.add(source('b', 15 * MIB))
  expect(await usage()).toMatchObject({ reservedBytes: 15 * MIB, reservedMs: 0, jobs: 1 })
  const page = { path: '1.jpg', thumbnailPath: '1-s.jpg', width: 1, height: 1 }
  const publishSlides = (id: string, bytes: number) =>
    slides.apply(id, { kind: 'slides', set: { jobId: id, prefix: `slides/${id}`, slides: [page], documentPath: 'a.pdf', bytes } }, 1)
  expect(await publishSlides(jobId, 16 * MIB)).toBe(true)
  expect(await usage()).toMatchObject({ bytes: 16 * MIB, reservedBytes: 0, ms: 0 })
  const overrides = await slides.add({ ...source('c', MIB), presentationId })
  expect(await publishSlides(overrides.jobId, 5 * MIB)).toBe(false)
  const presentations = createPresentationStore(catalogue.db, catalogue.enqueue)
  const before = await readUsage(catalogue.db.query, '2')
  await presentations.update({ scope: null, presentationId }, (current) => ({ ...current, organisationId: '2' }))
  expect([(await usage()).bytes, (await readUsage(catalogue.db.query, '2')).bytes]).toEqual([0, before.bytes + 16 * MIB])
  await presentations.remove({ scope: null, presentationId })
  expect((await readUsage(catalogue.db.query, '2')).bytes).toBe(before.bytes)
})
