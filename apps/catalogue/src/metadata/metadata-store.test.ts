import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { addEntries, changeEntries, type MetadataEntry, removeEntries } from './metadata.ts'
import { createMetadataStore, type MetadataStore } from './metadata-store.ts'

let catalogue: CatalogueDatabase
let metadata: MetadataStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  metadata = createMetadataStore(catalogue.db)
})
afterAll(() => catalogue.close())

const createEntry = (name: string, more: Partial<MetadataEntry> = {}): MetadataEntry => ({
  name,
  value: `of ${name}`,
  private: false,
  readOnly: false,
  ...more,
})
const add = (videoId: string, entries: MetadataEntry[], call = createCall()) =>
  metadata.change({ scope: '1', videoId }, '8', (current) => addEntries(current, entries, true), call)
const findMetadata = async (videoId: string) => (await catalogue.videos.find(null, videoId))?.metadata

describe('metadata', () => {
  test('is returned with its video, ordered by name', async () => {
    const { videoId } = await catalogue.upload()
    expect(await findMetadata(videoId)).toEqual([])
    const entries = ['valueof', 'constructor', '__proto__', 'a'].map((name) => createEntry(name))
    const at = await add(videoId, [...entries, createEntry('budget', { private: true, readOnly: true, value: '' })])
    expect((await findMetadata(videoId))?.map(({ name }) => name)).toEqual(['__proto__', 'a', 'budget', 'constructor', 'valueof'])
    expect((await findMetadata(videoId))?.[2]).toEqual({ name: 'budget', value: '', private: true, readOnly: true })
    expect(await catalogue.videos.find('1', videoId)).toMatchObject({ lastModifiedById: '8', updateTime: at })
  })
  test('is changed and removed without affecting other entries', async () => {
    const { videoId } = await catalogue.upload()
    await add(videoId, [createEntry('a'), createEntry('b'), createEntry('c')])
    const key = { scope: '1', videoId }
    await metadata.change(key, '8', (current) => changeEntries(current, [{ name: 'b', value: 'new', private: true }], false), createCall())
    await metadata.change(key, '8', (current) => removeEntries(current, ['a'], false), createCall())
    expect(await findMetadata(videoId)).toEqual([createEntry('b', { value: 'new', private: true }), createEntry('c')])
  })
  test('of 100 entries of the maximum length is stored in one call', async () => {
    const { videoId } = await catalogue.upload()
    const name = (index: number) => `${'z'.repeat(98)}${String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26))}`
    const entries = Array.from({ length: 100 }, (_, index) => createEntry(name(index), { value: '🎬'.repeat(1_000) }))
    await add(videoId, entries)
    expect(await findMetadata(videoId)).toEqual(entries)
  })
  test('of another organisation’s video is not found, and a rejected call stores nothing', async () => {
    const { videoId } = await catalogue.upload()
    await add(videoId, [createEntry('a')])
    const foreign = metadata.change({ scope: '2', videoId }, '8', () => [], createCall())
    await expect(foreign).rejects.toMatchObject({ kind: 'not_found', reason: 'VIDEO_NOT_FOUND' })
    await expect(add(videoId, [createEntry('b'), createEntry('a')])).rejects.toMatchObject({ reason: 'METADATA_EXISTS' })
    expect(await findMetadata(videoId)).toEqual([createEntry('a')])
  })
  test('is created once by 20 concurrent calls with the same name', async () => {
    const { videoId } = await catalogue.upload()
    const created = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => add(videoId, [createEntry('a', { value: `${index}` })])),
    )
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of created)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ kind: 'exists', reason: 'METADATA_EXISTS' })
    expect(await findMetadata(videoId)).toHaveLength(1)
  })
  test('never exceeds 100 entries under concurrent writes', async () => {
    const { videoId } = await catalogue.upload()
    const calls = Array.from({ length: 12 }, (_, call) =>
      add(
        videoId,
        Array.from({ length: 10 }, (_, index) => createEntry(String.fromCharCode(97 + call, 97 + index))),
      ),
    )
    const created = await Promise.allSettled(calls)
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect(await findMetadata(videoId)).toHaveLength(100)
  })
  test('is created once per idempotency key, and a retry returns the first response', async () => {
    const { videoId } = await catalogue.upload()
    const call = () => createCall({ key: `metadata ${videoId}`, fingerprint: 'a' })
    const first = await add(videoId, [createEntry('a')], call())
    expect(await add(videoId, [createEntry('a')], call())).toEqual(first)
    expect(await findMetadata(videoId)).toHaveLength(1)
  })
  test('is deleted with its media', async () => {
    const { videoId, mediaId } = await catalogue.upload()
    await add(videoId, [createEntry('a')])
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await catalogue.db.query('select 1 from metadata_entry where video_id = $1', [videoId])).toEqual([])
  })
})
