import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createVideoPages, type VideoPages } from './video-pages.ts'
import type { VideoQuery } from './video-query.ts'

let catalogue: CatalogueDatabase
let lists: VideoPages
// Ten videos of one organisation, with two pairs of titles that differ only in case. Another
// organisation has three videos.
const titles = ['b', 'a', 'C', 'B', 'e', 'd', 'Ä', 'f', 'A', 'g']
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  lists = createVideoPages(catalogue.db)
  for (const [index, title] of titles.entries()) {
    await (index < 4 ? catalogue.play : catalogue.upload)({ title, tags: index % 2 ? ['odd', `n${index}`] : ['even'] })
  }
  for (const title of ['x', 'y', 'z']) await catalogue.upload({ title }, { organisationId: '2' })
  // Two videos with the same creation time.
  await catalogue.db.query(`update video set create_time = (select create_time from video where title = 'e') where title = 'd'`)
})
afterAll(() => catalogue.close())

const createQuery = (more: Partial<VideoQuery> = {}): VideoQuery => ({ scope: '1', order: 'create_time', descending: false, ...more })
const page = (of: VideoQuery, place: { size?: number; token?: string; skip?: number } = {}, weight = 1) =>
  lists.page(of, { size: 100, token: '', skip: 0, ...place }, () => weight)

async function walk(of: VideoQuery, size: number, weight = 1): Promise<string[]> {
  const videoIds: string[] = []
  for (let token = '', pages = 0; pages < 30; pages++) {
    const { videos, nextPageToken } = await page(of, { size, token }, weight)
    videoIds.push(...videos.map(({ videoId }) => videoId))
    if (nextPageToken === '') return videoIds
    token = nextPageToken
  }
  throw new Error('the list does not end')
}

describe.each([
  ['create_time', false],
  ['create_time', true],
  ['title', false],
  ['title', true],
] as const)('sorted by %s, descending %s', (order, descending) => {
  test.each([1, 3, 9, 10, 11])('pages of %d contain every video once, in order', async (size) => {
    const of = createQuery({ order, descending })
    const { videos } = await page(of)
    expect(videos).toHaveLength(10)
    expect(await walk(of, size)).toEqual(videos.map(({ videoId }) => videoId))
  })
  test('the other direction is the reverse', async () => {
    const forwardIds = (await page(createQuery({ order, descending }))).videos.map(({ videoId }) => videoId)
    const backwardIds = (await page(createQuery({ order, descending: !descending }))).videos.map(({ videoId }) => videoId)
    expect(backwardIds).toEqual(forwardIds.reverse())
  })
})

test('unchanged videos are the same objects in later pages, and changed ones are read again', async () => {
  const read = async (size: number) => (await page(createQuery(), { size })).videos
  const before = await read(10)
  const [changed] = before
  await catalogue.db.query('update video set description = $1 where video_id = $2', ['changed', changed?.videoId])
  for (const size of [10, 200]) {
    const [first, ...others] = await read(size)
    expect(first).toEqual({ ...changed, description: 'changed' })
    expect(others.map((video, index) => video === before[index + 1])).toEqual(Array(9).fill(true))
  }
  await catalogue.db.query('update video set description = $1 where video_id = $2', [changed?.description, changed?.videoId])
  expect(await read(10)).toEqual(before)
})

test('titles are sorted case-insensitively', async () => {
  const { videos } = await page(createQuery({ order: 'title' }))
  const lower = videos.map(({ title }) => title.toLowerCase()).filter((title) => title !== 'ä')
  expect(lower).toEqual(['a', 'a', 'b', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('rows can be skipped', async () => {
  const all = (await page(createQuery())).videos
  expect((await page(createQuery(), { skip: 4, size: 3 })).videos).toEqual(all.slice(4, 7))
  expect(await page(createQuery(), { skip: 10 })).toEqual({ videos: [], nextPageToken: '' })
})

test.each([
  ['nothing', {}, 10],
  ['a tag', { tag: 'odd' }, 5],
  ['a tag of one video', { tag: 'n3' }, 1],
  ['an unused tag', { tag: `'; drop table video` }, 0],
  ['a state', { state: 'ok' }, 4],
  ['both', { state: 'ok', tag: 'even' }, 2],
  ['another organisation', { scope: '2' }, 3],
  ['nothing, for all organisations', { scope: null }, 13],
] as const)('filtered by %s', async (_, overrides, count) => {
  expect(await lists.count(createQuery(overrides))).toBe(count)
  expect((await page(createQuery(overrides))).videos).toHaveLength(count)
  expect(await walk(createQuery(overrides), 2)).toHaveLength(count)
})

test('a page of large videos ends early, and the next page continues', async () => {
  const { videos } = await page(createQuery(), {}, 1024 * 1024)
  expect(videos).toHaveLength(3)
  expect(await walk(createQuery(), 100, 1024 * 1024)).toHaveLength(10)
  expect(await walk(createQuery(), 100, 9 * 1024 * 1024)).toHaveLength(10)
})

test.each([
  ['nonsense', 'nonsense'],
  ['values of another list', Buffer.from(JSON.stringify(['create_time', 'false', '12x', '', '1'])).toString('base64url')],
  ['an invalid id', Buffer.from(JSON.stringify(['create_time', 'false', '12', '', '1e3'])).toString('base64url')],
  ['a NUL', Buffer.from(JSON.stringify(['title', 'false', '\0', '', '1'])).toString('base64url')],
])('a page token with %s is rejected', async (_, token) => {
  await expect(page(createQuery(), { token })).rejects.toMatchObject({ reason: 'INVALID_INPUT', fields: [{ field: 'page_token' }] })
})

test('a page token of another order is rejected', async () => {
  const { nextPageToken: token } = await page(createQuery(), { size: 1 })
  await expect(page(createQuery({ order: 'title' }), { token })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  await expect(page(createQuery({ descending: true }), { token })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
})
