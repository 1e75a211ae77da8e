import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { buildRenditionSet } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { videoSummaryHandlers } from './video-summary-rpc.ts'
import { createVideoSummaryStore } from './video-summary-store.ts'

let catalogue: CatalogueDatabase
beforeAll(async () => {
  catalogue = await catalogueDatabase()
})
afterAll(() => catalogue.close())

const service = () => serviceCall('collaboration', 'r')
const request = (
  videoIds: string[],
  call: Parameters<ReturnType<typeof videoSummaryHandlers>['listVideoSummaries']>[1] = service(),
  withTexts = false,
) => videoSummaryHandlers(createVideoSummaryStore(catalogue.db)).listVideoSummaries({ videoIds, withTexts }, call)

test('services read the organisation and the duration of existing videos', async () => {
  const plays = await catalogue.play()
  const other = await catalogue.upload({}, { organisationId: '2' })
  const { summaries } = await request([plays.videoId, other.videoId, other.videoId, '4611686018427387905', 'x', '', '0', '9'.repeat(19)])
  const sorted = summaries.toSorted((a, b) => a.organisationId.localeCompare(b.organisationId))
  expect(sorted).toEqual([
    { videoId: plays.videoId, organisationId: '1', durationSeconds: expect.any(Number), texts: undefined, languages: [] },
    { videoId: other.videoId, organisationId: '2', durationSeconds: undefined, texts: undefined, languages: [] },
  ])
  await catalogue.media.remove({ scope: '1', mediaId: plays.mediaId }, { userId: '7', callerId: '7', notes: '' })
  expect((await request([plays.videoId])).summaries).toEqual([])
  expect((await request([])).summaries).toEqual([])
})

test('a video that plays during encoding has the duration of its preview', async () => {
  const { videoId, jobId } = await catalogue.upload()
  const duration = async () => (await request([videoId])).summaries[0]?.durationSeconds
  await catalogue.jobs.apply(jobId, { kind: 'playable', preview: buildRenditionSet(jobId, { durationSeconds: 150 }) }, 0)
  expect(await duration()).toBe(150)
  await catalogue.jobs.apply(jobId, { kind: 'published', renditions: buildRenditionSet(jobId, { durationSeconds: 150 }) }, 1)
  expect(await duration()).toBe(150)
})

test('languages are the distinct languages of the video, its audio and its captions, at most 100', async () => {
  const { videoId, mediaId } = await catalogue.play({ language: 'de', languages: [{ code: 'pt-BR', title: 'Original' }] })
  const addCaption = (language: string) =>
    catalogue.db.query(
      `insert into caption (media_id, organisation_id, title, language, created_by_user_id, last_modified_by_user_id, plain_text)
       values ($1, 1, '', $2, '7', '7', '')`,
      [mediaId, language],
    )
  for (const language of ['de', 'zh-Hant', 'zh-Hant']) await addCaption(language)
  expect((await request([videoId])).summaries[0]?.languages.toSorted()).toEqual(['de', 'pt-BR', 'zh-Hant'])
  for (let nth = 0; nth < 110; nth++) await addCaption(`en-x-${nth}`)
  expect((await request([videoId])).summaries[0]?.languages).toHaveLength(100)
})

test('texts are returned only on request, for at most 100 videos', async () => {
  const { videoId } = await catalogue.play()
  const [plain] = (await request([videoId])).summaries
  expect(plain).toMatchObject({ videoId, texts: undefined })
  const [full] = (await request([videoId], service(), true)).summaries
  expect(full?.texts).toEqual({
    title: expect.any(String),
    mediaTitle: expect.any(String),
    description: expect.any(String),
    language: expect.any(String),
  })
  const ids = Array.from({ length: 101 }, (_, nth) => String(nth + 1))
  await expect(request(ids, service(), true)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'video_ids' }] })
})

test('at most 1,000 videos can be requested at once, by services only', async () => {
  const ids = Array.from({ length: 1_000 }, (_, nth) => String(nth + 1))
  for (const count of [999, 1_000]) expect((await request(ids.slice(0, count))).summaries).toEqual([])
  await expect(request([...ids, '1001'])).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'video_ids' }] })
  const user = { kind: 'user' as const, keyId: '1', userId: '1', organisationId: '1', userType: 'system' as const }
  await expect(request([], { ...service(), principal: user })).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
})
