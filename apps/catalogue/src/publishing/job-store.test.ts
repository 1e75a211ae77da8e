// Faults: C27, A18
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PagePosition } from '@vitascope/request'
import { buildRenditionSet, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackPolicyStore } from '../playback-policy/playback-policy-store.ts'
import type { JobFilter } from './job-store.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
beforeEach(() => catalogue.db.query('truncate outbox'))
afterAll(() => catalogue.close())

const progress = (jobId: string, percent: number, revision: number) => catalogue.jobs.apply(jobId, { kind: 'progress', percent }, revision)
const publish = (jobId: string, revision = 100) =>
  catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId) }, revision)
const fail = (jobId: string, revision = 100) =>
  catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: 'not a video' }, revision)
const replace = (mediaId: string) =>
  catalogue.media.replace(
    { scope: '1', mediaId },
    { sourceUrl: 'https://example.org/b.mp4', userId: '7', startsWaiting: false },
    createCall(),
  )
const findStatus = async (videoId: string) => (await catalogue.videos.find('1', videoId))?.status
const findPlayedJobId = async (videoId: string) => (await catalogue.videos.find('1', videoId))?.renditions?.jobId
const listMessages = async () => (await catalogue.messages()).map(({ topic, payload }) => `${topic} ${payload.jobId}`)

test('a list of jobs has the latest first, by media, state and id, and the active ones are counted', async () => {
  const [first, second, third] = [await catalogue.upload(), await catalogue.upload(), await catalogue.upload()]
  await progress(second.jobId, 30, 1)
  await fail(third.jobId)
  const list = async (filter: Partial<JobFilter>, page: Partial<PagePosition> = {}) => {
    const position = { after: '9223372036854775807', limit: 2, skip: 0, ...page }
    return (await catalogue.jobs.list({ scope: '1', mediaId: undefined, states: [], jobIds: [], ...filter }, position)).map(
      ({ jobId }) => jobId,
    )
  }
  expect(await list({})).toEqual([third.jobId, second.jobId])
  expect(await list({}, { after: second.jobId })).toEqual([first.jobId])
  expect(await list({}, { skip: 1 })).toEqual([second.jobId, first.jobId])
  expect(await list({ scope: null, mediaId: first.mediaId })).toEqual([first.jobId])
  expect(await list({ scope: '2', mediaId: first.mediaId })).toEqual([])
  expect(await list({ states: ['failed'] })).toEqual([third.jobId])
  expect(await list({ scope: null, states: ['queued', 'running'] })).toEqual([second.jobId, first.jobId])
  expect(await list({ scope: null, jobIds: [first.jobId, third.jobId, '9007199254740991'] })).toEqual([third.jobId, first.jobId])
  expect(await list({ scope: '2', jobIds: [first.jobId] })).toEqual([])
  for (const scope of ['1', null]) expect(await catalogue.jobs.countActive(scope)).toEqual({ queued: 1, running: 1 })
  expect(await catalogue.jobs.countActive('2')).toEqual({ queued: 0, running: 0 })
})

describe('reports', () => {
  test('of progress update the video; late and repeated ones change nothing, and the response shows that the job is needed', async () => {
    const { jobId, videoId } = await catalogue.upload()
    expect(await progress(jobId, 30, 2)).toBe(true)
    expect(await progress(jobId, 10, 1)).toBe(true)
    expect(await progress(jobId, 90, 2)).toBe(true)
    expect(await findStatus(videoId)).toEqual({ state: 'encoding', progress: 30, code: 2, message: '' })
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'running', progress: 30, startTime: expect.any(Date) })
  })
  test('of a published set make it playable, and repeated ones change nothing', async () => {
    const { jobId, videoId } = await catalogue.upload()
    expect(await publish(jobId, 5)).toBe(true)
    const first = await catalogue.videos.find('1', videoId)
    expect(first).toMatchObject({ status: { state: 'ok', progress: 100, code: 2000 }, renditions: buildRenditionSet(jobId) })
    expect(await publish(jobId, 5)).toBe(true)
    expect(await progress(jobId, 50, 6)).toBe(false)
    expect(await fail(jobId, 7)).toBe(true)
    expect(await catalogue.videos.find('1', videoId)).toEqual(first)
  })
  test('of another set of a published job change nothing, and that set is not needed', async () => {
    const { jobId, videoId } = await catalogue.upload()
    await publish(jobId, 5)
    const first = await catalogue.videos.find('1', videoId)
    const otherSet = { kind: 'published', renditions: { ...buildRenditionSet(jobId), prefix: 'renditions/again', bytes: 7 } } as const
    expect(await catalogue.jobs.apply(jobId, otherSet, 9)).toBe(false)
    expect(await catalogue.videos.find('1', videoId)).toEqual(first)
    expect(await catalogue.jobs.findUsedPrefixes([jobId])).toEqual([buildRenditionSet(jobId).prefix])
  })
  test('of the end of a job ignore the revision, because encoding may have failed over', async () => {
    const [first, second] = [await catalogue.upload(), await catalogue.upload()]
    for (const { jobId } of [first, second]) await progress(jobId, 30, 9)
    expect(await publish(first.jobId, 3)).toBe(true)
    expect(await fail(second.jobId, 3)).toBe(false)
    expect([await findStatus(first.videoId), await findStatus(second.videoId)]).toMatchObject([{ state: 'ok' }, { state: 'failed' }])
  })
  test('do not change the update time of the video', async () => {
    const { jobId, videoId } = await catalogue.upload()
    const before = (await catalogue.videos.find('1', videoId))?.updateTime
    await progress(jobId, 30, 2)
    await publish(jobId)
    expect((await catalogue.videos.find('1', videoId))?.updateTime).toEqual(before)
  })
  test('of a set of a failed job change nothing, and that set is not needed', async () => {
    const { jobId, videoId } = await catalogue.upload()
    await progress(jobId, 40, 1)
    expect(await fail(jobId, 2)).toBe(false)
    expect(await publish(jobId, 3)).toBe(false)
    expect(await findStatus(videoId)).toEqual({ state: 'failed', progress: 40, code: 4002, message: 'not a video' })
    expect(await findPlayedJobId(videoId)).toBeUndefined()
  })
  test('of a preview assign the URLs of the video, which stay the same when the set is published', async () => {
    const { jobId, videoId, mediaId } = await catalogue.upload()
    const findPolicy = () => createPlaybackPolicyStore(catalogue.db).find(videoId)
    const preview = buildRenditionSet(jobId, {
      prefix: `preview/${jobId}`,
      renditions: [],
      posterPath: '',
      thumbnailPath: '',
      thumbnails: [],
      bytes: 0,
    })
    await progress(jobId, 30, 8)
    expect(await catalogue.jobs.apply(jobId, { kind: 'playable', preview }, undefined)).toBe(true)
    const previewPolicy = await findPolicy()
    expect(previewPolicy?.sets).toEqual([{ version: expect.stringMatching(/^[a-z0-9]{16}$/), prefix: `preview/${jobId}` }])
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ status: { state: 'encoding', progress: 30 }, renditions: preview })
    await catalogue.jobs.apply(jobId, { kind: 'playable', preview }, undefined)
    const second = await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
    expect((await createPlaybackPolicyStore(catalogue.db).find(second.videoId))?.sets).toHaveLength(1)
    expect(await publish(jobId)).toBe(true)
    expect((await findPolicy())?.sets).toEqual([{ version: previewPolicy?.sets[0]?.version, prefix: buildRenditionSet(jobId).prefix }])
    expect(await catalogue.jobs.apply(jobId, { kind: 'playable', preview }, undefined)).toBe(true)
    expect(await findPlayedJobId(videoId)).toBe(jobId)
    expect((await catalogue.videos.find('1', videoId))?.renditions).toEqual(buildRenditionSet(jobId))
  })
  test.each([
    ['reported by a preview', 2, 2],
    ['reported by the complete set', 1, 2],
  ])('of a new plan change the URLs of the video, because files of two plans cannot be mixed: %s', async (_, previewPlan, completePlan) => {
    const { jobId, videoId } = await catalogue.upload()
    const version = async () => (await createPlaybackPolicyStore(catalogue.db).find(videoId))?.sets[0]?.version
    const preview = (planNumber: number) => buildRenditionSet(jobId, { prefix: `preview/${jobId}`, renditions: [], planNumber })
    await catalogue.jobs.apply(jobId, { kind: 'playable', preview: preview(0) }, undefined)
    const first = await version()
    await catalogue.jobs.apply(jobId, { kind: 'playable', preview: preview(previewPlan) }, undefined)
    const second = await version()
    expect(second === first).toBe(previewPlan === 1)
    await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId, { planNumber: completePlan }) }, undefined)
    expect((await version()) === second).toBe(previewPlan === completePlan)
    expect(await version()).not.toBe(first)
  })
  test('of a preview apply until the job ends, and not to a replacement', async () => {
    const { jobId, videoId, mediaId } = await catalogue.upload()
    const preview = (id: string) => ({
      kind: 'playable' as const,
      preview: buildRenditionSet(id, { prefix: `preview/${id}`, renditions: [] }),
    })
    await catalogue.jobs.apply(jobId, preview(jobId), undefined)
    await fail(jobId)
    expect(await findPlayedJobId(videoId)).toBeUndefined()
    expect(await createPlaybackPolicyStore(catalogue.db).find(videoId)).toBeUndefined()
    const second = await replace(mediaId)
    await catalogue.jobs.apply(second.jobId, preview(second.jobId), undefined)
    expect(await findPlayedJobId(videoId)).toBe(second.jobId)
    const third = await replace(mediaId)
    expect(await findPlayedJobId(videoId)).toBeUndefined()
    await publish(third.jobId)
    const fourth = await replace(mediaId)
    await catalogue.jobs.apply(fourth.jobId, preview(fourth.jobId), undefined)
    expect(await findPlayedJobId(videoId)).toBe(third.jobId)
  })
  test('of an unknown job are reported as unknown', async () => {
    expect(await progress('999999999', 5, 1)).toBeUndefined()
  })
  test('of fifty concurrent progress updates apply the highest', async () => {
    const { jobId, videoId } = await catalogue.upload()
    await Promise.all(Array.from({ length: 50 }, (_, i) => progress(jobId, 10 + i, i)))
    expect(await findStatus(videoId)).toMatchObject({ progress: 59 })
  })
})

describe('a replacement', () => {
  test('keeps the old set playable until it is complete, and then still serves it to running players', async () => {
    const { videoId, mediaId, jobId: first } = await catalogue.play()
    const version = (await catalogue.videos.find('1', videoId))?.deliveryVersion
    const { jobId: second, videoId: replacedVideoId, status } = await replace(mediaId)
    expect([replacedVideoId, status]).toEqual([videoId, { state: 'encoding', progress: 5, code: 2, message: '' }])
    await progress(second, 50, 1)
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({
      status: { progress: 50 },
      renditions: buildRenditionSet(first),
      deliveryVersion: version,
    })
    await publish(second)
    expect(await findPlayedJobId(videoId)).toBe(second)
    const policy = await createPlaybackPolicyStore(catalogue.db).find(videoId)
    expect(policy?.sets).toEqual([
      { version: expect.not.stringMatching(version ?? ''), prefix: `renditions/${second}` },
      { version, prefix: `renditions/${first}` },
    ])
    expect(await catalogue.jobs.findNeeded([first, second])).toEqual([first, second])
    await catalogue.db.query(`update delivery_set set expire_time = now() - interval '1 second' where video_id = $1`, [videoId])
    expect(await catalogue.jobs.findNeeded([first, second])).toEqual([second])
    expect((await createPlaybackPolicyStore(catalogue.db).find(videoId))?.sets).toHaveLength(1)
  })
  test('that fails leaves the video unchanged, and the job has the reason', async () => {
    const { videoId, mediaId, jobId: first } = await catalogue.play()
    const { jobId } = await replace(mediaId)
    await fail(jobId)
    expect(await findStatus(videoId)).toEqual({ state: 'ok', progress: 100, code: 2000, message: '' })
    expect(await findPlayedJobId(videoId)).toBe(first)
    expect(await catalogue.jobs.find('1', jobId)).toMatchObject({ state: 'failed', code: 4002, message: 'not a video', action: 'replace' })
  })
  test('that is cancelled leaves the video unchanged', async () => {
    const { videoId, mediaId } = await catalogue.play()
    const { jobId } = await replace(mediaId)
    expect(await catalogue.jobs.cancel('1', jobId)).toMatchObject({ state: 'cancelled', code: 4005, finishTime: expect.any(Date) })
    expect(await findStatus(videoId)).toMatchObject({ state: 'ok', code: 2000 })
  })
  test('of a media without a set shows its failure', async () => {
    const { videoId, mediaId, jobId: first } = await catalogue.upload()
    await fail(first)
    const { jobId } = await replace(mediaId)
    expect(await findStatus(videoId)).toMatchObject({ state: 'encoding', progress: 5 })
    await fail(jobId)
    expect(await findStatus(videoId)).toMatchObject({ state: 'failed', code: 4002 })
  })
  test('cancels an earlier one, whatever the order of their reports', async () => {
    const { videoId, mediaId } = await catalogue.play()
    await catalogue.db.query('truncate outbox')
    const one = await replace(mediaId)
    const two = await replace(mediaId)
    expect(await publish(one.jobId)).toBe(false)
    expect(await publish(two.jobId)).toBe(true)
    expect(await publish(one.jobId, 200)).toBe(false)
    expect(await findPlayedJobId(videoId)).toBe(two.jobId)
    expect(await catalogue.jobs.find('1', one.jobId)).toMatchObject({ state: 'cancelled', message: 'replaced by a later request' })
    expect(await listMessages()).toEqual([`job.created ${one.jobId}`, `job.cancelled ${one.jobId}`, `job.created ${two.jobId}`])
  })
  test('cancels all but the last of ten concurrent ones', async () => {
    const { videoId, mediaId } = await catalogue.play()
    const all = await Promise.all(Array.from({ length: 10 }, () => replace(mediaId)))
    const published = await Promise.all(all.map(({ jobId }) => publish(jobId)))
    expect(published.filter(Boolean)).toHaveLength(1)
    const jobs = await Promise.all(all.map(({ jobId }) => catalogue.jobs.find('1', jobId)))
    expect(jobs.map((job) => job?.state).sort()).toEqual([...Array(9).fill('cancelled'), 'ok'])
    expect(await findPlayedJobId(videoId)).toBe(all[published.indexOf(true)]?.jobId)
    const lastAccepted = all.map(({ jobId }) => Number(jobId)).sort((a, b) => a - b)
    expect(Number(await findPlayedJobId(videoId))).toBe(lastAccepted.at(-1))
  })
})

describe('cancelling', () => {
  test('fails a video that is not playable yet, and notifies encoding', async () => {
    const { jobId, videoId } = await catalogue.upload()
    await catalogue.jobs.cancel('1', jobId)
    expect(await findStatus(videoId)).toMatchObject({ state: 'failed', progress: 5, code: 4005 })
    expect(await listMessages()).toEqual([`job.created ${jobId}`, `job.cancelled ${jobId}`])
    expect(await progress(jobId, 50, 9)).toBe(false)
  })
  test('is rejected for a job that has ended, and for a job of another organisation', async () => {
    const { jobId } = await catalogue.play()
    await expect(catalogue.jobs.cancel('1', jobId)).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'JOB_FINISHED' })
    await expect(catalogue.jobs.cancel('2', jobId)).rejects.toMatchObject({ reason: 'JOB_NOT_FOUND' })
    expect(await catalogue.jobs.find('2', jobId)).toBeUndefined()
  })
})

test('only active jobs, and jobs whose set is used, are needed', async () => {
  const [active, played, failed] = [await catalogue.upload(), await catalogue.play(), await catalogue.upload()]
  await fail(failed.jobId)
  const requested = [active.jobId, played.jobId, failed.jobId, '999999999']
  expect(await catalogue.jobs.findNeeded(requested)).toEqual([active.jobId, played.jobId])
})
