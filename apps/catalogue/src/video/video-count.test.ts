import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createVideoPages, type VideoPages } from './video-pages.ts'
import type { VideoQuery } from './video-query.ts'
import { createVideoSweep } from './video-sweep.ts'

let catalogue: CatalogueDatabase
let lists: VideoPages
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  lists = createVideoPages(catalogue.db)
})
afterAll(() => catalogue.close())

const count = (more: Partial<VideoQuery> = {}) => lists.count({ scope: '1', order: 'create_time', descending: false, ...more })

/** Compares the maintained counts with the existing rows. */
async function compare() {
  const [row] = await catalogue.db.query<{ counted: object; existing: object; agree: boolean }>(
    `with counted as (select organisation_id, state, sum(videos) as videos from video_count group by 1, 2 having sum(videos) <> 0),
       existing as (select organisation_id, m.state, count(*)::numeric as videos from video join media m using (media_id, organisation_id)
         group by 1, 2)
     select (select jsonb_agg(c order by organisation_id, state) from counted c) as counted,
       (select jsonb_agg(t order by organisation_id, state) from existing t) as existing,
       not exists (select from video v join media m using (media_id) where v.state <> m.state) as agree`,
  )
  expect(row?.counted).toEqual(row?.existing)
  expect(row?.agree).toBe(true)
}

test('the count follows uploads, states, publishes and deletions', async () => {
  const { mediaId, videoId, jobId } = await catalogue.upload()
  expect([await count(), await count({ state: 'encoding' }), await count({ scope: '2' })]).toEqual([1, 1, 0])
  const { videoId: second } = await catalogue.media.publish({ scope: '1', mediaId }, '7', createCall())
  await catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: 'not a video' }, 1)
  expect([await count(), await count({ state: 'encoding' }), await count({ state: 'failed' })]).toEqual([2, 0, 2])
  await catalogue.videos.remove({ scope: '1', videoId: second })
  expect(await count({ state: 'failed' })).toBe(1)
  await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
  expect([await count(), await count({ scope: null, state: 'failed' })]).toEqual([0, 0])
  expect(videoId).not.toBe(second)
  await compare()
})

test('the count is exact under concurrent changes and merges, and excludes rolled-back transactions', async () => {
  const sweeps = [createVideoSweep(catalogue.db), createVideoSweep(catalogue.db)]
  const seen: number[] = []
  let running = true
  const watch = (async () => {
    while (running) seen.push(await count({ scope: null }))
  })()
  const changeVideo = async (index: number) => {
    const organisationId = String(1 + (index % 2))
    const { mediaId, jobId } = await catalogue.upload({ title: `number ${index}` }, { organisationId })
    const { videoId } = await catalogue.media.publish({ scope: null, mediaId }, '7', createCall())
    await Promise.all([
      catalogue.media.publish({ scope: null, mediaId }, '7', createCall()),
      catalogue.jobs.apply(jobId, { kind: 'failed', code: 4002, message: '' }, 1),
      sweeps[index % 2]?.run(),
    ])
    await catalogue.videos.remove({ scope: null, videoId })
    const rolledBack = catalogue.db.transaction(async (tx) => {
      await tx.query('delete from media where media_id = $1', [mediaId])
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    if (index % 3 === 0) await catalogue.media.remove({ scope: null, mediaId }, { userId: '7', callerId: '7', notes: '' })
  }
  try {
    for (let round = 0; round < 10; round++) await Promise.all([0, 1, 2].map((index) => changeVideo(round * 3 + index)))
  } finally {
    running = false
    await watch
  }
  await compare()
  expect(await count({ scope: null })).toBe(40)
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...seen)).toBeLessThanOrEqual(90)
}, 120_000)

test('a sweep merges many count rows into one with the same sum', async () => {
  const before = await count()
  await catalogue.db.query(`insert into video_count select 1, 'ok', case when g % 2 = 0 then 1 else -1 end from generate_series(1, 400) g`)
  await createVideoSweep(catalogue.db).run()
  expect(await count()).toBe(before)
  const [row] = await catalogue.db.query<{ rows: number }>(
    `select count(*)::int as rows from video_count where organisation_id = 1 and state = 'ok'`,
  )
  expect(row?.rows).toBeLessThanOrEqual(1)
})

test('a sweep removes words that no video contains', async () => {
  const { mediaId } = await catalogue.upload({ title: 'Ephemeral evening' })
  await catalogue.upload({ title: 'Evening' })
  const countWords = async () =>
    (
      await catalogue.db.query<{ word: string }>(
        `select word from title_word where word like 'e%' union all select word from organisation_title_word where word like 'e%' order by 1`,
      )
    ).map((r) => r.word)
  expect(await countWords()).toEqual(['ephemeral', 'ephemeral', 'evening', 'evening'])
  await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
  const sweep = createVideoSweep(catalogue.db)
  for (let round = 0; round < 3; round++) await sweep.run()
  expect(await countWords()).toEqual(['evening', 'evening'])
})
