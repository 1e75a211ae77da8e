import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { addTags, removeTags } from './tag.ts'
import { createTagStore, type TagStore } from './tag-store.ts'

let catalogue: CatalogueDatabase
let tags: TagStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  tags = createTagStore(catalogue.db)
})
beforeEach(() => catalogue.db.query('delete from media'))
afterAll(() => catalogue.close())

const all = { size: 1_000, token: '', skip: 0 }
const counts = async (organisationId = '1') => (await tags.list(organisationId, all)).tags.map(({ tag, videos }) => `${tag} ${videos}`)
const add = (videoId: string, input: string[], call = createCall()) =>
  tags.change({ scope: '1', videoId }, '8', (current) => addTags(current, input), call)
const remove = (videoId: string, input: string[]) =>
  tags.change({ scope: '1', videoId }, '8', (current) => removeTags(current, input), { signal: new AbortController().signal })
const uploadWith = async (input: string[], more = {}) => (await catalogue.upload({ tags: input }, more)).videoId

/** Checks that the tag counts and the copies of tags match the videos. */
async function expectExact() {
  const counted = await catalogue.db.query(
    `select organisation_id, tag collate "C" as tag, count(*) as videos from video cross join unnest(tags) as t (tag) group by 1, 2 order by 1, 2`,
  )
  expect(await catalogue.db.query('select organisation_id, tag, videos from tag_count order by 1, 2')).toEqual(counted)
  const copied = await catalogue.db.query(
    `select organisation_id, tag collate "C" as tag, create_time, video_id from video cross join unnest(tags) as t (tag) order by 2, 4`,
  )
  expect(await catalogue.db.query('select organisation_id, tag, create_time, video_id from video_tag order by 2, 4')).toEqual(copied)
}

describe('adding and deleting', () => {
  test('return the changed tags and record the last editor', async () => {
    const videoId = await uploadWith(['a'])
    expect(await add(videoId, ['b', 'a', 'c'])).toEqual(['b', 'c'])
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ tags: ['a', 'b', 'c'], lastModifiedById: '8' })
    expect(await remove(videoId, ['c', 'x', 'a'])).toEqual(['c', 'a'])
    expect(await remove(videoId, ['c'])).toEqual([])
    expect((await catalogue.videos.find('1', videoId))?.tags).toEqual(['b'])
    await expectExact()
  })
  test('leave the video unchanged if they have no effect', async () => {
    const videoId = await uploadWith(['a'])
    const before = await catalogue.videos.find('1', videoId)
    expect(await add(videoId, ['a'])).toEqual([])
    expect(await catalogue.videos.find('1', videoId)).toEqual(before)
  })
  test('reject a video of another organisation as not found', async () => {
    const videoId = await uploadWith(['a'])
    const foreign = tags.change({ scope: '2', videoId }, '8', (current) => removeTags(current, ['a']), createCall())
    await expect(foreign).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  })
  test('lose no tag concurrently, and each tag is added by one call', async () => {
    const videoId = await uploadWith([])
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => add(videoId, ['same', `t${index}`])))
    expect(results.flat().filter((tag) => tag === 'same')).toHaveLength(1)
    expect((await catalogue.videos.find('1', videoId))?.tags).toHaveLength(21)
    await expectExact()
  })
  test('return the first response to a retry with the same idempotency key', async () => {
    const videoId = await uploadWith([])
    const call = () => createCall({ key: `tags ${videoId}`, fingerprint: 'a' })
    expect(await add(videoId, ['a'], call())).toEqual(['a'])
    expect(await add(videoId, ['a'], call())).toEqual(['a'])
  })
})

describe('counts', () => {
  test('are per organisation, sorted by use, then by code point', async () => {
    await uploadWith(['b', 'a', 'Z'])
    await uploadWith(['b', '__proto__'])
    await uploadWith(['b', 'foreign'], { organisationId: '2' })
    expect(await counts()).toEqual(['b 2', 'Z 1', '__proto__ 1', 'a 1'])
    expect(await counts('2')).toEqual(['b 1', 'foreign 1'])
    expect(await counts('3')).toEqual([])
  })
  test('follow every kind of change', async () => {
    const first = await catalogue.upload({ tags: ['a', 'b'] })
    await catalogue.media.publish({ scope: '1', mediaId: first.mediaId }, '8', createCall())
    expect(await counts()).toEqual(['a 2', 'b 2'])
    await catalogue.videos.update({ scope: '1', videoId: first.videoId }, '8', (current) => ({ ...current, tags: ['b', 'c'] }))
    expect(await counts()).toEqual(['b 2', 'a 1', 'c 1'])
    await catalogue.videos.remove({ scope: '1', videoId: first.videoId })
    expect(await counts()).toEqual(['a 1', 'b 1'])
    await expectExact()
    await catalogue.media.remove({ scope: '1', mediaId: first.mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await counts()).toEqual([])
    await expectExact()
  })
  test('are unchanged after a rollback', async () => {
    await uploadWith(['a'])
    const failing = catalogue.db.transaction(async (tx) => {
      await tx.query('delete from media')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await counts()).toEqual(['a 1'])
  })
  test('stay exact under concurrent changes, uploads and deletions', async () => {
    const words = ['a', 'b', 'c', 'd', 'e', 'f']
    const pick = (seed: number) => words.filter((_, index) => (seed >> index) & 1)
    const videos = await Promise.all(Array.from({ length: 12 }, (_, index) => catalogue.upload({ tags: pick(index * 5) })))
    await Promise.all(
      videos.flatMap(({ videoId, mediaId }, index) =>
        [
          add(videoId, pick(index * 11 + 1).toReversed()),
          remove(videoId, [...pick(63 - index), 'a']),
          catalogue.media.publish({ scope: '1', mediaId }, '8', createCall()),
          uploadWith(pick(index * 7).toReversed()),
          ...(index % 3 === 0
            ? [catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' }).catch(() => undefined)]
            : []),
        ].map((change) => change.catch((error: { reason?: string }) => expect(error.reason).toMatch(/NOT_FOUND$/))),
      ),
    )
    await expectExact()
  })
  test('are exact after a statement that inserts many videos', async () => {
    const { mediaId } = await catalogue.upload({ tags: ['a'] })
    await catalogue.db.query(
      `insert into video select (jsonb_populate_record(v, jsonb_build_object('video_id', n, 'tags', jsonb_build_array('a', 't' || n % 7)))).*
       from video v cross join generate_series(1, 2000) n where v.media_id = $1`,
      [mediaId],
    )
    expect((await counts()).slice(0, 2)).toEqual(['a 2001', 't1 286'])
    await expectExact()
  })
})

describe('pages', () => {
  test('of tags have no gap between them', async () => {
    await uploadWith(['a', 'b', 'c', 'd', 'e'])
    await uploadWith(['c', 'e'])
    const first = await tags.list('1', { size: 2, token: '', skip: 1 })
    expect(first.tags.map(({ tag }) => tag)).toEqual(['e', 'a'])
    const second = await tags.list('1', { size: 2, token: first.nextPageToken, skip: 0 })
    expect(second.tags.map(({ tag }) => tag)).toEqual(['b', 'd'])
    expect(second.nextPageToken).toBe('')
    await expect(tags.list('1', { size: 2, token: 'x', skip: 0 })).rejects.toMatchObject({ kind: 'invalid' })
  })
  test('of videos with all or any of the tags are in the order of creation', async () => {
    const createdIds: string[] = []
    for (const input of [['a'], ['b'], ['a', 'b'], ['c'], ['b', 'a', 'c']]) {
      createdIds.push(await uploadWith(input))
      await catalogue.db.query(`update video set create_time = now() + $2 * interval '1 s' where video_id = $1`, [
        createdIds.at(-1),
        createdIds.length,
      ])
    }
    await uploadWith(['a'], { organisationId: '2' })
    const find = async (input: string[], any = false, place: object = {}) => {
      const { videoIds, nextPageToken } = await tags.videos({ organisationId: '1', tags: input, any }, { ...all, ...place })
      return { positions: videoIds.map((videoId) => createdIds.indexOf(videoId)), nextPageToken }
    }
    expect((await find(['a'])).positions).toEqual([0, 2, 4])
    expect((await find(['a', 'b'])).positions).toEqual([2, 4])
    expect((await find(['a', 'none'])).positions).toEqual([])
    expect((await find(['a', 'c', 'none'], true)).positions).toEqual([0, 2, 3, 4])
    for (const any of [true, false]) {
      const first = await find(['a'], any, { size: 1, skip: 1 })
      expect(first.positions).toEqual([2])
      expect(await find(['a'], any, { size: 1, token: first.nextPageToken })).toEqual({ positions: [4], nextPageToken: '' })
    }
  })
})
