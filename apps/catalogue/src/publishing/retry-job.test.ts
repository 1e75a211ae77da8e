import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { buildRenditionSet, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createEncodingFormatStore } from './encoding-format/encoding-format-store.ts'
import { createRetryJob, type RetryJob } from './retry-job.ts'

let catalogue: CatalogueDatabase
let retryJob: RetryJob
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  retryJob = createRetryJob(catalogue.db, catalogue.enqueue)
})
beforeEach(() => catalogue.db.query('truncate outbox'))
afterAll(() => catalogue.close())

const fail = (jobId: string) => catalogue.jobs.apply(jobId, { kind: 'failed', code: 5002, message: 'the encoder failed' }, 100)
const publish = (jobId: string) => catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, 200)
const retry = (jobId: string, scope: string | null = '1') => retryJob({ scope, jobId }, createCall())
const findStatus = async (videoId: string) => (await catalogue.videos.find('1', videoId))?.status
const listMessages = async () => (await catalogue.messages()).map(({ topic, payload }) => `${topic} ${payload.jobId}`)

test('retrying the failed job of a video encodes the same source again', async () => {
  const { jobId, videoId } = await catalogue.upload()
  await fail(jobId)
  const { jobId: retriedId } = await retry(jobId)
  expect(await findStatus(videoId)).toEqual({ state: 'encoding', progress: 5, code: 2, message: '' })
  expect(await catalogue.jobs.find('1', retriedId)).toMatchObject({ videoId, action: 'new_video', state: 'queued' })
  const sources = await catalogue.db.query('select distinct source_url from job where job_id in ($1, $2)', [jobId, retriedId])
  expect(sources).toHaveLength(1)
  expect(await listMessages()).toEqual([`job.created ${jobId}`, `job.created ${retriedId}`])
  expect(await publish(retriedId)).toBe(true)
  expect(await findStatus(videoId)).toMatchObject({ state: 'ok' })
})

test('retrying a low-priority job keeps its priority', async () => {
  const { jobId } = await catalogue.upload({}, { lowPriority: true })
  await fail(jobId)
  await retry(jobId)
  expect((await catalogue.messages()).map(({ payload }) => payload)).toMatchObject([{ lowPriority: true }, { lowPriority: true }])
})

test('the success mail goes to the uploader, whichever user retried, and names an existing video', async () => {
  const { jobId, videoId, mediaId } = await catalogue.upload({}, { userId: '7', notify: true })
  const second = await catalogue.media.publish({ scope: '1', mediaId }, '8', createCall())
  await fail(jobId)
  await catalogue.videos.remove({ scope: '1', videoId })
  const retried = await retry(jobId)
  expect(retried).toMatchObject({ videoId: second.videoId, mediaId })
  expect(await catalogue.jobs.find('1', retried.jobId)).toMatchObject({ videoId: second.videoId })
  await publish(retried.jobId)
  const mails = await catalogue.db.query('select user_id, video_id from mail where job_id = $1', [retried.jobId])
  expect(mails).toEqual([{ user_id: '7', video_id: second.videoId }])
})

test('the current set stays playable while a failed replacement is retried', async () => {
  const { videoId, mediaId, jobId: first } = await catalogue.play()
  const source = { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false }
  const { jobId } = await catalogue.media.replace({ scope: '1', mediaId }, source, createCall())
  await fail(jobId)
  const { jobId: retriedId } = await retry(jobId)
  expect(await catalogue.jobs.find('1', retriedId)).toMatchObject({ action: 'replace' })
  expect((await catalogue.videos.find('1', videoId))?.renditions?.jobId).toBe(first)
})

test('retrying a failed rendition queues only this rendition', async () => {
  const { mediaId } = await catalogue.play()
  const formats = createEncodingFormatStore(catalogue.db, catalogue.enqueue)
  const { jobId } = await formats.addToMedia({ mediaId, profileId: 21, userId: '7' }, createCall())
  await fail(jobId)
  const { jobId: retriedId } = await retry(jobId)
  expect(await catalogue.jobs.find('1', retriedId)).toMatchObject({ mediaId, action: 'add_rendition', state: 'queued' })
  await expect(retry(jobId)).rejects.toMatchObject({ reason: 'JOB_OVERTAKEN' })
})

test('only failed and cancelled jobs can be retried, once, and by their own organisation', async () => {
  const [active, done, failed, deleted] = [
    await catalogue.upload(),
    await catalogue.play(),
    await catalogue.upload(),
    await catalogue.upload(),
  ]
  await fail(failed.jobId)
  await fail(deleted.jobId)
  await catalogue.media.remove({ scope: '1', mediaId: deleted.mediaId }, { userId: '7', callerId: '7', notes: '' })
  for (const { jobId } of [active, done]) {
    await expect(retry(jobId)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'JOB_NOT_FAILED' })
  }
  await expect(retry(deleted.jobId)).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
  await expect(retry(failed.jobId, '2')).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
  const tries = await Promise.allSettled(Array.from({ length: 5 }, () => retry(failed.jobId)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await catalogue.jobs.cancel('1', active.jobId)
  expect(await retry(active.jobId)).toMatchObject({ mediaId: active.mediaId, action: 'new_video' })
})
