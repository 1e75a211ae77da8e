import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createDownloadStore, type DownloadStore } from './download-store.ts'

let catalogue: CatalogueDatabase
let store: DownloadStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  store = createDownloadStore(catalogue.db)
  for (const organisationId of ['7', '8']) await catalogue.organisations.apply(buildOrganisation({ organisationId }))
})
afterAll(() => catalogue.close())

const ALWAYS = { dateStart: '2000-01-01', dateEnd: '2999-12-31' }
const NONE = { original: 0, mp4: 0, audio: 0, caption: 0 }
const readCounts = async (organisationId: string, videoId?: string) =>
  (await store.listDays({ organisationId, videoId, ...ALWAYS })).map(({ counts }) => counts)

test('downloads are counted once per report, by video, organisation and file', async () => {
  const [one, two] = [await catalogue.play({}, { organisationId: '7' }), await catalogue.play({}, { organisationId: '7' })]
  const counts = [
    { videoId: one.videoId, file: 'mp4', count: 2 },
    { videoId: one.videoId, file: 'original', count: 1 },
    { videoId: two.videoId, file: 'mp4', count: 5 },
    // It was deleted.
    { videoId: '1', file: 'mp4', count: 9 },
  ] as const
  for (const reportId of ['a', 'a', 'b']) await store.add(reportId, counts)
  expect(await readCounts('7', one.videoId)).toEqual([{ ...NONE, original: 2, mp4: 4 }])
  expect(await readCounts('7')).toEqual([{ ...NONE, original: 2, mp4: 14 }])
  expect(await readCounts('8')).toEqual([])
  expect(await readCounts('8', one.videoId)).toEqual([])
})

test('the days are listed in their order, within the period', async () => {
  const { videoId } = await catalogue.play({}, { organisationId: '8' })
  for (const [index, day] of ['2030-01-02', '2030-01-01', '2030-02-01'].entries()) {
    await store.add(`day ${index}`, [{ videoId, file: 'audio', count: index + 1 }])
    await catalogue.db.query('update download_count set day = $2 where video_id = $1 and day < $3', [videoId, day, '2029-01-01'])
  }
  const days = await store.listDays({ organisationId: '8', videoId, dateStart: '2030-01-01', dateEnd: '2030-01-31' })
  expect(days).toEqual([
    { day: '2030-01-01', counts: { ...NONE, audio: 2 } },
    { day: '2030-01-02', counts: { ...NONE, audio: 1 } },
  ])
})

test('ids of reports are deleted after an hour', async () => {
  await catalogue.db.query(`update download_report set create_time = create_time - interval '61 minutes' where report_id = 'a'`)
  expect(await store.sweep(100)).toBe(1)
})
