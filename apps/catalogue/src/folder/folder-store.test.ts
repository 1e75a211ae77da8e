import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createFolderStore, type FolderStore } from './folder-store.ts'

let catalogue: CatalogueDatabase
let folders: FolderStore
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  folders = createFolderStore(catalogue.db)
})
afterAll(() => catalogue.close())

const all = { after: '0', limit: 1_000, skip: 0 }
let createdCount = 0
const create = (more: object = {}, call = createCall()) =>
  folders.create({ organisationId: '1', userId: '7', name: `Folder ${++createdCount}`, description: '', ...more }, call)
const createFolderKey = async (more: object = {}) => ({ scope: '1', folderId: (await create(more)).folderId })
const listVideoIds = async (key: { scope: string; folderId: string }, page = all) =>
  (await folders.videos(key, page)).map(({ videoId }) => videoId)
const listOutcomes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? 'done' : (result.reason as { reason: string }).reason)).toSorted()

describe('a folder', () => {
  test('is listed with its organisation, oldest first, page by page', async () => {
    const before = await folders.list('2', all)
    const ids = [await create({ organisationId: '2' }), await create({ organisationId: '2' })].map(({ folderId }) => folderId)
    await create()
    expect((await folders.list('2', all)).map(({ folderId }) => folderId)).toEqual([...before.map(({ folderId }) => folderId), ...ids])
    expect((await folders.list('2', { after: ids[0] ?? '', limit: 1, skip: 0 })).map(({ folderId }) => folderId)).toEqual([ids[1]])
    expect((await folders.list('2', { ...all, skip: 1 })).map(({ folderId }) => folderId)).toEqual([ids[1]])
  })
  test('has a unique name in its organisation', async () => {
    await create({ name: 'Same' })
    await create({ name: 'same' })
    await create({ name: 'Same', organisationId: '2' })
    await expect(create({ name: 'Same' })).rejects.toMatchObject({ kind: 'exists', reason: 'FOLDER_EXISTS' })
    const key = await createFolderKey()
    const rename = folders.update(key, '8', (current) => ({ ...current, name: 'Same' }))
    await expect(rename).rejects.toMatchObject({ kind: 'exists', reason: 'FOLDER_EXISTS' })
  })
  test('is created once by 20 concurrent calls with the same name', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => create({ name: 'Raced' })))
    expect(listOutcomes(results)).toEqual([...Array(19).fill('FOLDER_EXISTS'), 'done'])
  })
  test('is renamed by one of many concurrent calls with the same new name', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => createFolderKey()))
    const results = await Promise.allSettled(keys.map((key) => folders.update(key, '8', (current) => ({ ...current, name: 'Wanted' }))))
    expect(listOutcomes(results)).toEqual([...Array(7).fill('FOLDER_EXISTS'), 'done'])
  })
  test('is returned with its previous state when it is updated', async () => {
    const created = await create({ description: 'old' })
    const key = { scope: null, folderId: created.folderId }
    const { folder, previous } = await folders.update(key, '8', (current) => ({ ...current, name: created.name, description: 'new' }))
    expect(previous).toEqual(created)
    expect(folder).toMatchObject({ description: 'new', createdByUserId: '7', lastModifiedByUserId: '8', createTime: created.createTime })
  })
  test('is created once per idempotency key, and a retry returns the first response', async () => {
    const call = () => createCall({ key: 'a folder', fingerprint: 'a' })
    const first = await create({ name: 'Once' }, call())
    expect(await create({ name: 'Once' }, call())).toEqual(first)
  })
  test('of another organisation is not found', async () => {
    const { folderId } = await createFolderKey()
    const { videoId } = await catalogue.upload()
    const key = { scope: '2', folderId }
    const expectedError = { kind: 'not_found', reason: 'FOLDER_NOT_FOUND' }
    await expect(folders.update(key, '8', (current) => current)).rejects.toMatchObject(expectedError)
    await expect(folders.remove(key)).rejects.toMatchObject(expectedError)
    await expect(folders.videos(key, all)).rejects.toMatchObject(expectedError)
    await expect(folders.addVideo(key, videoId, createCall())).rejects.toMatchObject(expectedError)
    await expect(folders.removeVideo(key, videoId, createCall())).rejects.toMatchObject(expectedError)
  })
})

describe('the videos of a folder', () => {
  test('are listed once each, in the order in which they were added', async () => {
    const key = await createFolderKey()
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push((await catalogue.upload()).videoId)
    for (const videoId of ids) expect(await folders.addVideo(key, videoId, createCall())).toBe(true)
    expect(await folders.addVideo(key, ids[0] ?? '', createCall())).toBe(false)
    expect(await listVideoIds(key)).toEqual(ids)
    const [first] = await folders.videos(key, { ...all, limit: 1 })
    expect(await listVideoIds(key, { after: first?.position ?? '', limit: 5, skip: 1 })).toEqual([ids[2]])
    const repeated = { ...createCall(), idempotency: { key: 'taken out', fingerprint: 'f' } }
    for (const call of [repeated, repeated]) await folders.removeVideo(key, ids[1] ?? '', call)
    for (const id of [ids[1] ?? '', 'x']) {
      await expect(folders.removeVideo(key, id, createCall())).rejects.toMatchObject({
        kind: 'not_found',
        reason: 'FOLDER_VIDEO_NOT_FOUND',
      })
    }
    expect(await listVideoIds(key)).toEqual([ids[0], ids[2]])
  })
  test('must belong to the organisation of the folder, even for a system user', async () => {
    const { folderId } = await createFolderKey()
    const { videoId } = await catalogue.upload({}, { organisationId: '2' })
    for (const id of [videoId, '4611686018427387905', 'x', '']) {
      await expect(folders.addVideo({ scope: null, folderId }, id, createCall())).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    }
  })
  test('are kept when the folder is deleted, and leave it when they are deleted', async () => {
    const [deletedFolder, otherFolder] = [await createFolderKey(), await createFolderKey()]
    const { videoId, mediaId } = await catalogue.upload()
    await folders.addVideo(deletedFolder, videoId, createCall())
    await folders.addVideo(otherFolder, videoId, createCall())
    expect((await folders.remove(deletedFolder)).folderId).toBe(deletedFolder.folderId)
    await expect(folders.remove(deletedFolder)).rejects.toMatchObject({ reason: 'FOLDER_NOT_FOUND' })
    expect(await catalogue.videos.find('1', videoId)).toBeDefined()
    expect(await listVideoIds(otherFolder)).toEqual([videoId])
    await catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect(await listVideoIds(otherFolder)).toEqual([])
  })
  test('can be added during the deletion of the folder or of a video without an unexpected error', async () => {
    for (let round = 0; round < 5; round++) {
      const key = await createFolderKey()
      const videos = await Promise.all(Array.from({ length: 4 }, () => catalogue.upload()))
      const results = await Promise.allSettled([
        ...videos.flatMap(({ videoId }) => [folders.addVideo(key, videoId, createCall()), folders.addVideo(key, videoId, createCall())]),
        ...videos.map(({ mediaId }) => catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })),
        folders.remove(key),
      ])
      expect(listOutcomes(results).filter((name) => !/^(done|FOLDER_NOT_FOUND|VIDEO_NOT_FOUND)$/.test(name))).toEqual([])
      expect(await catalogue.db.query('select 1 from folder_video where folder_id = $1', [key.folderId])).toEqual([])
    }
  })
})

test('a folder has the current titles and states of its videos, also of videos that change while they are added', async () => {
  const key = await createFolderKey()
  const uploads = await Promise.all(Array.from({ length: 30 }, (_, i) => catalogue.upload({ title: `Before ${i}` })))
  const rename = ({ videoId }: { videoId: string }, title: string) =>
    catalogue.videos.update({ scope: '1', videoId }, '7', (current) => ({ ...current, title }))
  await Promise.all(uploads.flatMap((upload, i) => [rename(upload, `After ${i}`), folders.addVideo(key, upload.videoId, createCall())]))
  const compareCopies = () =>
    catalogue.db.query<{ same: boolean }>(
      `select (f.state, f.title_key, f.create_time) = (v.state, lower(v.title), v.create_time) as same
       from folder_video f join video v using (video_id) where f.folder_id = $1`,
      [key.folderId],
    )
  expect(await compareCopies()).toEqual(uploads.map(() => ({ same: true })))
  await catalogue.db.query(`update video set state = 'failed' where video_id = any ($1)`, [uploads.map(({ videoId }) => videoId)])
  expect(await compareCopies()).toEqual(uploads.map(() => ({ same: true })))
})
