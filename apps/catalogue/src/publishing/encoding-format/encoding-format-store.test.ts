import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { testLog } from '@vitascope/testing'
import { buildOrganisation, buildRenditionSet, createCall } from '../../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../../test/catalogue-database.ts'
import type { Quota } from '../../organisation-replica/organisation.ts'
import { createPlaybackPolicyStore } from '../../playback-policy/playback-policy-store.ts'
import { readUsage } from '../../quota/reserve.ts'
import { createUsageCheck } from '../../quota/usage-check.ts'
import type { JobRequest } from '../job/job-messages.ts'
import { createStaleEncodeJobs } from '../job/stale-encode-jobs-store.ts'
import { createRetryJob } from '../retry-job.ts'
import { createEncodingFormatStore } from './encoding-format-store.ts'
import { toRenditionRequest } from './rendition-request.ts'

let catalogue: CatalogueDatabase
let organisationId = '100'
let revision = 1
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(async () => {
  organisationId = String(Number(organisationId) + 1)
  await limit({})
})
afterAll(() => catalogue.close())

const AV1 = 21
const HEVC = 11
const signal = new AbortController().signal
const limit = (quota: Quota) => catalogue.organisations.apply(buildOrganisation({ organisationId, revision: ++revision, quota }))
const formats = () => createEncodingFormatStore(catalogue.db, catalogue.enqueue)
const apply = (mediaId: string, profileId = AV1) => formats().addToMedia({ mediaId, profileId, userId: '7' }, createCall())
const play = () => catalogue.play({}, { organisationId })
const publish = (jobId: string, more: Parameters<typeof buildRenditionSet>[1] = {}) =>
  catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId, more) }, 9)
const createRendition = (key: string) => {
  const rendition = { key, path: `${key}.mp4`, width: 320, height: 180, bytes: 900, bitrate: 1_000 }
  return { renditions: [rendition], bytes: 1_500, posterPath: '', thumbnailPath: '', thumbnails: [] }
}
const replace = async (mediaId: string) => {
  const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
  return catalogue.media.replace({ scope: organisationId, mediaId }, source, createCall())
}
const video = (videoId: string) => catalogue.videos.find(organisationId, videoId)
const files = async (videoId: string) => (await video(videoId))?.renditions?.renditions.map(({ key, path }) => `${key} ${path}`)
const state = async (jobId: string) => (await catalogue.jobs.find(organisationId, jobId))?.state
const usage = () => readUsage(catalogue.db.query, organisationId)
const addedTo = async (videoId: string) => (await createPlaybackPolicyStore(catalogue.db).find(videoId))?.added
const findJobs = (mediaId: string) =>
  catalogue.db.query<{ job_id: string; state: string; code: number; message: string }>(
    `select job_id, state, code, message from job where media_id = $1 and action = 'add_rendition' order by job_id`,
    [mediaId],
  )

test('a rendition is queued on its own, and added to the current set without other changes', async () => {
  const { videoId, mediaId, jobId: setJobId } = await play()
  const before = await video(videoId)
  const { jobId, ...applied } = await apply(mediaId)
  expect(applied).toEqual({ mediaId, title: 'Launch', profileIds: [AV1] })
  expect((await catalogue.messages()).find(({ payload }) => payload.jobId === jobId)).toMatchObject({
    topic: 'job.created',
    key: `media:${mediaId}`,
    payload: { mediaId, organisationId, sourceUrl: '', rendition: { setJobId, profileId: AV1 } },
  })
  await catalogue.jobs.apply(jobId, { kind: 'progress', percent: 40 }, 1)
  expect(await video(videoId)).toEqual(before)
  expect(await publish(jobId, createRendition('av1_250'))).toBe(true)
  const after = await video(videoId)
  expect(after?.renditions?.renditions).toEqual([
    ...(before?.renditions?.renditions ?? []),
    { ...createRendition('av1_250').renditions[0], path: `added/${jobId}/av1_250.mp4` },
  ])
  expect({ ...after, renditions: undefined }).toEqual({ ...before, renditions: undefined })
  expect(await addedTo(videoId)).toEqual([{ jobId, prefix: `renditions/${jobId}`, setPrefix: `renditions/${setJobId}` }])
  expect(await usage()).toMatchObject({ bytes: 6_500, reservedBytes: 0, ms: 12_480, jobs: 0 })
  expect(await publish(jobId, createRendition('av1_250'))).toBe(true)
  expect(await catalogue.jobs.findNeeded([jobId])).toEqual([jobId])
  expect(await catalogue.jobs.findUsedPrefixes([jobId])).toEqual([`renditions/${jobId}`])
  expect((await apply(mediaId)).jobId).toBe('')
})

test('repeated requests for a rendition create one job, several renditions can be queued, and a failed one can be requested again', async () => {
  const { videoId, mediaId } = await play()
  const [first, repeated] = [await apply(mediaId), await apply(mediaId)]
  expect(repeated.jobId).toBe(first.jobId)
  const other = await apply(mediaId, HEVC)
  expect(await catalogue.jobs.apply(first.jobId, { kind: 'failed', code: 5006, message: 'no encoder' }, 2)).toBe(false)
  expect(await video(videoId)).toMatchObject({ status: { state: 'ok', code: 2000 } })
  expect(await publish(other.jobId, createRendition('hevc_300'))).toBe(true)
  const third = await apply(mediaId)
  expect(third.jobId).not.toBe(first.jobId)
  await publish(third.jobId, createRendition('av1_250'))
  expect(await files(videoId)).toEqual([
    'h264_100 mp4/h264_100.mp4',
    `hevc_300 added/${other.jobId}/hevc_300.mp4`,
    `av1_250 added/${third.jobId}/av1_250.mp4`,
  ])
})

test('publishing a replacement cancels the renditions for the previous set, and queues them for the new set', async () => {
  const { videoId, mediaId, jobId: setJobId } = await play()
  const done = await apply(mediaId, HEVC)
  await publish(done.jobId, createRendition('hevc_300'))
  const late = await apply(mediaId)
  const replacement = await replace(mediaId)
  // Until the replacement is published, renditions can still be added to the current set.
  expect(await state(late.jobId)).toBe('queued')
  await publish(replacement.jobId)
  expect(await state(late.jobId)).toBe('cancelled')
  expect(await publish(late.jobId, createRendition('av1_250'))).toBe(false)
  expect(await files(videoId)).toEqual(['h264_100 mp4/h264_100.mp4'])
  const queued = (await findJobs(mediaId)).filter((job) => job.state === 'queued')
  expect(queued).toHaveLength(2)
  expect(await usage()).toMatchObject({ bytes: 5_000, jobs: 2 })
  // The previous set is served for an hour, including its added renditions.
  expect(await catalogue.jobs.findNeeded([setJobId, done.jobId, late.jobId])).toEqual([setJobId, done.jobId])
  expect(await addedTo(videoId)).toMatchObject([{ jobId: done.jobId, setPrefix: `renditions/${setJobId}` }])
  for (const { job_id: jobId } of queued) await publish(jobId, createRendition(jobId === queued[0]?.job_id ? 'hevc_300' : 'av1_250'))
  expect(await files(videoId)).toHaveLength(3)
  expect(await usage()).toMatchObject({ bytes: 8_000, jobs: 0 })
  expect(await createUsageCheck(catalogue.db, testLog).differences(organisationId)).toEqual([])
})

test('a rendition for another set than the current one is dropped', async () => {
  const { mediaId, videoId } = await play()
  const { jobId } = await apply(mediaId)
  await catalogue.db.query('update job set set_job_id = 1 where job_id = $1', [jobId])
  expect(await publish(jobId, createRendition('av1_250'))).toBe(false)
  expect(await state(jobId)).toBe('cancelled')
  expect(await files(videoId)).toEqual(['h264_100 mp4/h264_100.mp4'])
})

test('uploads after an organisation gets a format are encoded to it once they are published, earlier ones are not', async () => {
  const before = await catalogue.upload({}, { organisationId })
  const [format] = await formats().addToOrganisation(organisationId, HEVC, signal)
  expect(await formats().addToOrganisation(organisationId, HEVC, signal)).toEqual([format])
  const after = await catalogue.upload({}, { organisationId })
  for (const { jobId } of [before, after]) await publish(jobId)
  expect([await findJobs(before.mediaId), await findJobs(after.mediaId)]).toMatchObject([[], [{ state: 'queued' }]])
  await formats().removeFromOrganisation(String(format?.organisationFormatId), signal)
  expect(await formats().findOfOrganisation(organisationId, signal)).toEqual([])
  await expect(formats().removeFromOrganisation(String(format?.organisationFormatId), signal)).rejects.toMatchObject({ kind: 'not_found' })
  expect((await formats().findOfMedia(after.mediaId, signal))?.profileIds).toEqual([HEVC])
})

test('renditions of a low-priority upload have low priority, also after a retry or a repeated request', async () => {
  const { jobId, mediaId } = await catalogue.upload({}, { organisationId, lowPriority: true })
  await apply(mediaId)
  await publish(jobId)
  const [first] = await findJobs(mediaId)
  await catalogue.jobs.apply(first?.job_id ?? '', { kind: 'failed', code: 5006, message: 'no encoder' }, 2)
  const retryJob = createRetryJob(catalogue.db, catalogue.enqueue)
  const retried = await retryJob({ scope: organisationId, jobId: first?.job_id ?? '' }, createCall())
  const other = await apply(mediaId, HEVC)
  await catalogue.db.query(`delete from outbox where payload ->> 'jobId' = $1`, [other.jobId])
  const staleJobs = createStaleEncodeJobs(catalogue.db, catalogue.enqueue)
  const claimed = (await staleJobs.claim(0)).find((job) => job.jobId === other.jobId)
  if (!claimed) throw new Error('the job is active, so it is polled')
  await staleJobs.resend(claimed)
  const received = (await catalogue.messages()).map(({ payload }) => payload as unknown as JobRequest)
  for (const id of [first?.job_id, retried.jobId, other.jobId]) {
    const request = received.find((payload) => payload.jobId === id)
    expect(request).toMatchObject({ lowPriority: true, rendition: { setJobId: jobId } })
    if (request?.rendition) expect(toRenditionRequest(request, request.rendition)).toMatchObject({ lowPriority: true })
  }
})

test('a format of an unpublished media is queued when its set is published, and never for audio only', async () => {
  const [picture, sound] = [await catalogue.upload({}, { organisationId }), await catalogue.upload({}, { organisationId })]
  for (const { mediaId } of [picture, sound]) expect((await apply(mediaId)).jobId).toBe('')
  await publish(picture.jobId)
  await publish(sound.jobId, { hasVideo: false })
  expect([(await findJobs(picture.mediaId)).length, (await findJobs(sound.mediaId)).length]).toEqual([1, 0])
  await expect(apply(sound.mediaId, HEVC)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'NO_PICTURE' })
  await expect(apply('7')).rejects.toMatchObject({ kind: 'not_found' })
})

test('a quota rejects a requested rendition; an automatic one becomes a failed job, and the set is still published', async () => {
  await formats().addToOrganisation(organisationId, AV1, signal)
  const { jobId, mediaId, videoId } = await catalogue.upload({}, { organisationId })
  await limit({ bytes: 10 })
  await publish(jobId)
  expect(await video(videoId)).toMatchObject({ status: { state: 'ok' } })
  expect(await findJobs(mediaId)).toMatchObject([{ state: 'failed', code: 4003, message: expect.stringContaining('of 10 bytes') }])
  await expect(apply(mediaId)).rejects.toMatchObject({ kind: 'exhausted', reason: 'QUOTA_BYTES' })
  await limit({ bytes: 7_000 })
  const second = await apply(mediaId)
  expect(await publish(second.jobId, { ...createRendition('av1_250'), bytes: 2_001 })).toBe(false)
  expect(await catalogue.jobs.find(organisationId, second.jobId)).toMatchObject({ state: 'failed', code: 4003 })
  const third = await apply(mediaId)
  expect(await publish(third.jobId, { ...createRendition('av1_250'), bytes: 2_000 })).toBe(true)
})

test('a replacement may use the bytes of the renditions that were added to the previous set', async () => {
  const { mediaId } = await play()
  const { jobId } = await apply(mediaId)
  await publish(jobId, createRendition('av1_250'))
  await limit({ bytes: 6_500 })
  const replacement = await replace(mediaId)
  const request = (await catalogue.messages()).find(({ payload }) => payload.jobId === replacement.jobId)
  expect(request?.payload).toMatchObject({ maxBytes: 6_500 })
  expect(await publish(replacement.jobId, { bytes: 6_500 })).toBe(true)
  expect(await usage()).toMatchObject({ bytes: 6_500, reservedBytes: 0 })
})

test('deleting the media cancels the rendition and releases its quota; a lost job request is sent again unchanged', async () => {
  const { mediaId } = await play()
  const done = await apply(mediaId, HEVC)
  await publish(done.jobId, createRendition('hevc_300'))
  const { jobId } = await apply(mediaId)
  await catalogue.db.query('delete from outbox')
  const staleJobs = createStaleEncodeJobs(catalogue.db, catalogue.enqueue)
  const claimed = (await staleJobs.claim(0)).find((job) => job.jobId === jobId)
  if (!claimed) throw new Error('the job is active, so it is polled')
  await staleJobs.resend(claimed)
  expect((await catalogue.messages()).find(({ payload }) => payload.jobId === jobId)?.payload).toMatchObject({
    rendition: { profileId: AV1 },
  })
  await catalogue.media.remove({ scope: organisationId, mediaId }, { userId: '7', callerId: '7', notes: '' })
  expect(await state(jobId)).toBe('cancelled')
  expect(await publish(jobId, createRendition('av1_250'))).toBe(false)
  expect(await catalogue.jobs.findNeeded([done.jobId, jobId])).toEqual([])
  expect(await usage()).toMatchObject({ bytes: 0, jobs: 0 })
})
