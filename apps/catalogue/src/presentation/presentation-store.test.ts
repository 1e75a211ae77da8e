import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { buildOrganisation, createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { lockMedia } from '../publishing/media/media-lock.ts'
import { newRandomId } from '../rules/id.ts'
import { type Presentation, toStatus } from './presentation.ts'
import { createPresentationPolicies, type PresentationPolicies } from './presentation-policy.ts'
import { createPresentationStore, type PresentationStore } from './presentation-store.ts'
import type { SlideUpdate } from './slide-job.ts'
import { createSlideJobStore, type SlideJobStore } from './slide-job-store.ts'
import { createStaleSlideJobs } from './stale-slide-jobs-store.ts'

let catalogue: CatalogueDatabase
let presentations: PresentationStore
let jobs: SlideJobStore
let rules: PresentationPolicies
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  presentations = createPresentationStore(catalogue.db, catalogue.enqueue)
  jobs = createSlideJobStore(catalogue.db, catalogue.enqueue)
  rules = createPresentationPolicies(catalogue.db)
})
beforeEach(() => catalogue.db.query('truncate outbox'))
afterAll(() => catalogue.close())

const fields = { organisationId: '1', userId: '7', videoId: '', title: 'Launch', description: '' }
const create = async (more: Partial<typeof fields> = {}, call = createCall()) =>
  (await presentations.create(newRandomId(), { ...fields, ...more }, call)).presentationId
const find = async (presentationId: string, scope: string | null = '1') => presentations.find({ scope, presentationId })
const change = (presentationId: string, more: Partial<Presentation>, scope: string | null = null) =>
  presentations.update({ scope, presentationId }, (current) => ({ ...current, ...more }))

let objects = 0
const add = (presentationId = '', more: Partial<Parameters<SlideJobStore['add']>[0]> = {}) =>
  jobs.add({
    ...{ presentationId, organisationId: '1', userId: '7', filename: 'launch.pdf', title: 'launch' },
    ...{ sourceObject: `upload/1/${objects++}.pdf`, sourceBytes: 10, ...more },
  })
const createResult = (presentationId: string, jobId: string, pages: number): SlideUpdate => ({
  kind: 'slides',
  set: {
    jobId,
    prefix: `slides/${presentationId}/${jobId}-1`,
    slides: Array.from({ length: pages }, (_, page) => ({
      path: `s${page + 1}.jpg`,
      thumbnailPath: `t${page + 1}.jpg`,
      width: 64,
      height: 36,
    })),
    documentPath: 'document.pdf',
    bytes: 100,
  },
})
/** Creates a presentation with slides. */
async function withSlides(pages = 2) {
  const { presentationId, jobId } = await add()
  await jobs.apply(jobId, createResult(presentationId, jobId, pages), 1)
  return { presentationId, jobId }
}
const listMessages = async () => (await catalogue.messages()).map(({ topic, key, payload }) => `${topic} ${key} ${payload.jobId}`)
const failure: SlideUpdate = { kind: 'failed', code: 4002, message: 'not a PDF' }

describe('presentations', () => {
  test('are found by their own organisation and the system', async () => {
    const id = await create({ title: 'Größe \u{1F680}' })
    expect(await find(id)).toMatchObject({ ...fields, presentationId: id, title: 'Größe \u{1F680}', filename: '', slides: [] })
    expect(await find(id, null)).toBeDefined()
    expect(await find(id, '2')).toBeUndefined()
    await expect(change(id, { title: 'x' }, '2')).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(presentations.remove({ scope: '2', presentationId: id })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
  })
  test('are created once per idempotency key', async () => {
    const call = createCall({ key: 'k1', fingerprint: 'f' })
    expect(await create({}, call)).toBe(await create({}, call))
    await expect(create({}, createCall({ key: 'k1', fingerprint: 'g' }))).rejects.toMatchObject({ reason: 'IDEMPOTENCY_MISMATCH' })
  })
  test('are deleted with their jobs, and encoding is notified about their files', async () => {
    const { presentationId, jobId } = await withSlides()
    const next = await add(presentationId)
    await catalogue.db.query('truncate outbox')
    await presentations.remove({ scope: null, presentationId })
    expect(await find(presentationId)).toBeUndefined()
    expect((await listMessages()).sort()).toEqual(
      [jobId, next.jobId].map((id) => `job.cancelled presentation:${presentationId} ${id}`).sort(),
    )
    expect(await jobs.findNeeded([jobId, next.jobId])).toEqual([])
    expect(await jobs.apply(next.jobId, createResult(presentationId, next.jobId, 1), 9)).toBe(false)
    expect(await rules.find(presentationId)).toBeUndefined()
    await expect(presentations.remove({ scope: null, presentationId })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
  })
})

describe('the video of a presentation', () => {
  const videoNames = async (videoId: string) => (await catalogue.videos.find('1', videoId))?.presentationId
  test('refers to the presentation while it is assigned', async () => {
    const [first, second] = [await catalogue.play(), await catalogue.play()]
    const id = await create({ videoId: first.videoId })
    expect(await videoNames(first.videoId)).toBe(id)
    await change(id, { videoId: second.videoId })
    expect([await videoNames(first.videoId), await videoNames(second.videoId)]).toEqual(['', id])
    await presentations.remove({ scope: null, presentationId: id })
    expect(await videoNames(second.videoId)).toBe('')
  })
  test('loses its reference only after a concurrent change of the video', async () => {
    const { videoId, mediaId } = await catalogue.play()
    const id = await create({ videoId })
    await catalogue.db.transaction(async (tx) => {
      await lockMedia(tx, mediaId, null)
      await expect(change(id, { videoId: '' })).rejects.toMatchObject({ reason: 'DATABASE_BUSY' })
    })
    await change(id, { videoId: '' })
    expect(await videoNames(videoId)).toBe('')
  })
  test('must belong to the same organisation', async () => {
    const foreign = await catalogue.play({}, { organisationId: '2' })
    await expect(create({ videoId: foreign.videoId })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    const { videoId } = await catalogue.play()
    const id = await create({ videoId })
    await expect(change(id, { organisationId: '2' })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    expect(await find(id)).toMatchObject({ organisationId: '1', videoId })
    await change(id, { organisationId: '2', videoId: '' })
    expect([await find(id), await videoNames(videoId)]).toEqual([undefined, ''])
  })
  test('is assigned when a video refers to a presentation that has none', async () => {
    const [first, second] = [await catalogue.play(), await catalogue.play()]
    const foreign = await catalogue.play({}, { organisationId: '2' })
    const id = await create()
    const name = (videoId: string, scope: string) =>
      catalogue.videos.update({ scope, videoId }, '7', (current) => ({ ...current, presentationId: id }))
    await expect(name(foreign.videoId, '2')).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(catalogue.upload({ presentationId: '7' })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    expect((await find(id))?.videoId).toBe('')
    await name(first.videoId, '1')
    await name(second.videoId, '1')
    expect((await find(id))?.videoId).toBe(first.videoId)
    const findPresentationIds = async () => [
      (await catalogue.videos.find('1', first.videoId))?.presentationId,
      (await catalogue.videos.find('1', second.videoId))?.presentationId,
    ]
    expect(await findPresentationIds()).toEqual([id, id])
    // A dangling id in the video also reads as empty.
    await catalogue.db.query('delete from presentation where presentation_id = $1', [id])
    expect(await findPresentationIds()).toEqual(['', ''])
  })
})

describe('any caller', () => {
  const isSeen = async (id: string) => [(await presentations.findPublic(id)) !== undefined, (await rules.find(id)) !== undefined]
  test('sees a presentation without a video, with the allowed IPs of its organisation', async () => {
    const { presentationId, jobId } = await withSlides()
    expect(await isSeen(presentationId)).toEqual([true, true])
    expect(await rules.find(presentationId)).toEqual({
      sets: [{ version: expect.stringMatching(/^[0-9a-f]{16}$/), prefix: `slides/${presentationId}/${jobId}-1` }],
      videoId: '',
      tokenRequired: false,
      passwordRequired: false,
      allowedIps: [],
      expireTime: undefined,
      videoRules: [],
      organisationRules: [],
      deniesByDefault: false,
      keys: [],
    })
    expect(await isSeen(await create())).toEqual([true, false])
    expect(await isSeen('5')).toEqual([false, false])
  })
  test('sees a presentation with a video only while the video is visible, and with its protection', async () => {
    const { presentationId } = await withSlides()
    const { videoId, mediaId } = await catalogue.play()
    await change(presentationId, { videoId })
    const set = (more: Parameters<typeof Object.assign>[1]) =>
      catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, ...more }))
    await set({ tokenRequired: true, allowedIps: ['192.0.2.0/24'], contentExpiry: { expireTime: new Date('2999-01-01'), message: '' } })
    expect(await rules.find(presentationId)).toMatchObject({
      videoId,
      tokenRequired: true,
      allowedIps: ['192.0.2.0/24'],
      expireTime: new Date('2999-01-01'),
    })
    await set({ enabled: false })
    expect(await isSeen(presentationId)).toEqual([false, false])
    await set({ enabled: true, contentExpiry: { expireTime: new Date(Date.now() - 1_000), message: '' } })
    expect(await isSeen(presentationId)).toEqual([false, false])
    await set({ contentExpiry: undefined })
    expect(await isSeen(presentationId)).toEqual([true, true])
    // Deleting the video must not make a protected presentation public.
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await isSeen(presentationId)).toEqual([false, false])
    expect(await find(presentationId)).toBeDefined()
  })
  test('sees no presentation of an inactive organisation', async () => {
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '3' }))
    const { presentationId } = await add('', { organisationId: '3' })
    expect((await isSeen(presentationId))[0]).toBe(true)
    await catalogue.organisations.apply(buildOrganisation({ organisationId: '3', revision: 2, active: false }))
    expect((await isSeen(presentationId))[0]).toBe(false)
  })
})

describe('a file', () => {
  test('creates a presentation, is sent to encoding and becomes its slides', async () => {
    const { presentationId, jobId } = await add()
    expect(await listMessages()).toEqual([`slides.created presentation:${presentationId} ${jobId}`])
    const started = await find(presentationId)
    expect(started).toMatchObject({ title: 'launch', filename: 'launch.pdf', userId: '7', slides: [] })
    expect(started && toStatus(started)).toMatchObject({ state: 'processing', progress: 5, code: 2 })
    expect(await jobs.apply(jobId, { kind: 'progress', percent: 60 }, 1)).toBe(true)
    expect(await jobs.apply(jobId, { kind: 'progress', percent: 40 }, 2)).toBe(true)
    expect((await find(presentationId))?.processing.progress).toBe(60)
    expect(await jobs.apply(jobId, createResult(presentationId, jobId, 3), 3)).toBe(true)
    const ready = await find(presentationId)
    expect(ready && toStatus(ready)).toMatchObject({ state: 'awaiting_timings', progress: 99, code: 1999 })
    expect(ready?.slides.map(({ path, seconds }) => [path, seconds])).toEqual([
      ['s1.jpg', undefined],
      ['s2.jpg', undefined],
      ['s3.jpg', undefined],
    ])
    expect(ready?.document).toEqual({ version: ready?.slides[0]?.version, path: 'document.pdf' })
  })
  test('changes nothing when its result is reported repeatedly, late or out of order', async () => {
    const { presentationId, jobId } = await add()
    await jobs.apply(jobId, createResult(presentationId, jobId, 2), 5)
    const once = await find(presentationId)
    expect(await jobs.apply(jobId, createResult(presentationId, jobId, 2), 5)).toBe(true)
    expect(await jobs.apply(jobId, createResult(presentationId, jobId, 2), 9)).toBe(true)
    expect(await jobs.apply(jobId, { kind: 'progress', percent: 30 }, 4)).toBe(false)
    expect(await jobs.apply(jobId, failure, 10)).toBe(true)
    expect(await find(presentationId)).toEqual(once)
    expect(await jobs.apply('999999999', failure, 1)).toBeUndefined()
  })
  test('that is appended adds its slides after the existing ones, whose times are kept', async () => {
    const { presentationId } = await withSlides(2)
    await presentations.update({ scope: null, presentationId }, (current) => ({
      ...current,
      slides: current.slides.map((slide, index) => ({ ...slide, seconds: index * 10 })),
    }))
    const before = await find(presentationId)
    expect(before && toStatus(before).state).toBe('ok')
    const { jobId } = await add(presentationId, { filename: 'more.pdf' })
    expect((await find(presentationId))?.slides).toEqual(before?.slides)
    await jobs.apply(jobId, createResult(presentationId, jobId, 1), 1)
    const after = await find(presentationId)
    expect(after?.slides.map(({ path, seconds }) => [path, seconds])).toEqual([
      ['s1.jpg', 0],
      ['s2.jpg', 10],
      ['s1.jpg', undefined],
    ])
    expect(new Set(after?.slides.map(({ version }) => version)).size).toBe(2)
    expect(after).toMatchObject({ filename: 'launch.pdf', document: before?.document })
    expect(after && toStatus(after).state).toBe('awaiting_timings')
    expect((await rules.find(presentationId))?.sets).toHaveLength(2)
  })
  test('that cannot be appended leaves the presentation unchanged, and the reason is shown', async () => {
    const { presentationId } = await withSlides()
    const { jobId } = await add(presentationId)
    expect(await jobs.apply(jobId, failure, 1)).toBe(false)
    const after = await find(presentationId)
    expect(after && toStatus(after)).toMatchObject({ state: 'awaiting_timings', reason: 'not a PDF' })
    expect(after?.slides).toHaveLength(2)
  })
  test('that is the first one and fails makes the presentation fail, until another file succeeds', async () => {
    const { presentationId, jobId } = await add()
    await jobs.apply(jobId, { kind: 'progress', percent: 30 }, 1)
    await jobs.apply(jobId, failure, 2)
    const failed = await find(presentationId)
    expect(failed && toStatus(failed)).toEqual({ state: 'failed', progress: 30, code: 4002, reason: 'not a PDF' })
    const next = await add(presentationId, { filename: 'good.pdf' })
    await jobs.apply(next.jobId, createResult(presentationId, next.jobId, 1), 1)
    const repaired = await find(presentationId)
    expect(repaired).toMatchObject({ filename: 'good.pdf' })
    expect(repaired && toStatus(repaired)).toMatchObject({ state: 'awaiting_timings', reason: '' })
  })
  test('is accepted only after the previous one has ended, also with ten concurrent calls', async () => {
    const { presentationId } = await withSlides()
    const responses = await Promise.allSettled(Array.from({ length: 10 }, () => add(presentationId)))
    const rejections = responses.flatMap((response) => (response.status === 'rejected' ? [response.reason] : []))
    expect(rejections).toHaveLength(9)
    for (const rejection of rejections) expect(rejection).toMatchObject({ kind: 'conflict', reason: 'PRESENTATION_BUSY' })
  })
  test('is accepted once, also with repeated and concurrent calls', async () => {
    const sourceObject = 'upload/1/same.pdf'
    const responses = await Promise.allSettled(Array.from({ length: 8 }, () => add('', { sourceObject })))
    const [first] = responses.flatMap((response) => (response.status === 'fulfilled' ? [response.value] : []))
    for (const response of responses) {
      if (response.status === 'fulfilled') expect(response.value).toEqual(first)
      else expect(response.reason).toMatchObject({ kind: 'conflict' })
    }
    expect(await add('', { sourceObject })).toEqual(first)
    expect(await add(first?.presentationId, { sourceObject })).toEqual(first)
    const all = await catalogue.db.query(`select 1 from presentation_job where source_object = $1`, [sourceObject])
    expect([all.length, (await listMessages()).length]).toEqual([1, 1])
    const [orphans] = await catalogue.db.query<{ count: number }>(
      `select count(*)::int as count from presentation p where state = 'processing' and not exists (
         select from presentation_job j where j.presentation_id = p.presentation_id)`,
    )
    expect(orphans?.count).toBe(0)
    await expect(add((await withSlides()).presentationId, { sourceObject })).rejects.toMatchObject({ kind: 'invalid' })
    await expect(add('', { sourceObject, organisationId: '2' })).rejects.toMatchObject({ kind: 'invalid' })
  })
  test('is not appended to an unknown presentation or one of another organisation', async () => {
    const { presentationId } = await withSlides()
    await expect(add(presentationId, { organisationId: '2' })).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
    await expect(add('5')).rejects.toMatchObject({ reason: 'PRESENTATION_NOT_FOUND' })
  })
})

test('slide jobs have other ids than media jobs', async () => {
  const ids = [(await catalogue.upload()).jobId, (await add()).jobId, (await catalogue.upload()).jobId, (await add()).jobId]
  expect(new Set(ids).size).toBe(4)
  expect((await jobs.findNeeded(ids)).sort()).toEqual([ids[1], ids[3]].sort())
})

test('a stale job is claimed once and sent again once', async () => {
  const quiet = createStaleSlideJobs(catalogue.db, catalogue.enqueue)
  const { presentationId, jobId } = await add()
  await catalogue.db.query(`update presentation_job set check_time = now() - interval '1 hour' where job_id = $1`, [jobId])
  await catalogue.db.query('truncate outbox')
  const claimed = await quiet.claim(60)
  expect(claimed).toEqual([
    expect.objectContaining({
      jobId,
      presentationId,
      organisationId: '1',
      sourceObject: expect.any(String),
      sourceBytes: 10,
      sendCount: 0,
    }),
  ])
  expect(await quiet.claim(60)).toEqual([])
  for (let i = 0; i < 2; i++) for (const job of claimed) await quiet.resend(job)
  expect(await listMessages()).toEqual([`slides.created presentation:${presentationId} ${jobId}`])
  expect(await quiet.recordEnd(jobId)).toBeLessThan(5)
  await quiet.recordRunning(jobId)
  const [row] = await catalogue.db.query('select send_count, ended_since from presentation_job where job_id = $1', [jobId])
  expect(row).toEqual({ send_count: 0, ended_since: null })
})
