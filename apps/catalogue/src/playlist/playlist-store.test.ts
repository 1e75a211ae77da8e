// Faults: A18
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isId } from '@vitascope/request'
import { createCall } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { appendVideo, createDefaultFields, type Playlist, removeVideo } from './playlist.ts'
import { createPlaylistStore, type PlaylistStore } from './playlist-store.ts'

let catalogue: CatalogueDatabase
let playlists: PlaylistStore
let videoId: string
let other: string
let foreign: string
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  playlists = createPlaylistStore(catalogue.db)
  videoId = (await catalogue.play()).videoId
  other = (await catalogue.upload({ title: 'Other' })).videoId
  foreign = (await catalogue.upload({}, { organisationId: '2' })).videoId
})
afterAll(() => catalogue.close())

async function createPlaylist(videoIds: string[] = [], organisationId = '1', title = 'Launches') {
  const { playlistId } = await playlists.create({ organisationId, userId: '7', fields: createDefaultFields(title, 'All') }, createCall())
  const key = { scope: organisationId, playlistId }
  if (videoIds.length > 0) await playlists.update(key, videoIds, (current) => ({ ...current, videoIds }))
  return key
}
const add = (key: { scope: string; playlistId: string }, id: string) => playlists.update(key, [id], (current) => appendVideo(current, id))

test('a new playlist is empty and has an id', async () => {
  const key = await createPlaylist()
  expect(isId(key.playlistId)).toBe(true)
  expect(await playlists.find(key)).toMatchObject({
    playlist: { ...createDefaultFields('Launches', 'All'), playlistId: key.playlistId, organisationId: '1', createdByUserId: '7' },
    organisationActive: true,
    videos: [],
  })
})

test('the id of a playlist differs from the ids of videos and other playlists', async () => {
  const taken = [videoId, (await createPlaylist()).playlistId, '12345']
  const storeWithTakenIds = createPlaylistStore(catalogue.db, () => taken.shift() ?? videoId)
  const fields = createDefaultFields('', '')
  expect(await storeWithTakenIds.create({ organisationId: '1', userId: '7', fields }, createCall())).toEqual({ playlistId: '12345' })
  await expect(storeWithTakenIds.create({ organisationId: '1', userId: '7', fields }, createCall())).rejects.toThrow('were all in use')
})

test('one idempotency key creates one playlist', async () => {
  const call = createCall({ key: 'b'.repeat(64), fingerprint: 'f'.repeat(64) })
  const create = () => playlists.create({ organisationId: '1', userId: '7', fields: createDefaultFields('Once', '') }, call)
  const first = await create()
  expect(await create()).toEqual(first)
})

describe('the order of a playlist', () => {
  test('is stored, with the same video at several positions', async () => {
    const key = await createPlaylist()
    await add(key, videoId)
    await add(key, other)
    const changed = await add(key, videoId)
    expect(changed.videoIds).toEqual([videoId, other, videoId])
    expect((await playlists.find(key))?.videos.map((video) => video.videoId)).toEqual([videoId, other, videoId])
    expect((await playlists.update(key, [videoId], (current) => removeVideo(current, videoId, 0))).videoIds).toEqual([other, videoId])
  })

  test('accepts one of 50 concurrent additions at 24 videos', async () => {
    const key = await createPlaylist(Array.from({ length: 24 }, () => other))
    const responses = await Promise.allSettled(Array.from({ length: 50 }, () => add(key, videoId)))
    expect(responses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const response of responses) if (response.status === 'rejected') expect(response.reason).toMatchObject({ reason: 'PLAYLIST_FULL' })
    expect((await playlists.find(key))?.playlist.videoIds).toHaveLength(25)
  })

  test('cannot have a 26th position, whatever the update does', async () => {
    const key = await createPlaylist()
    const videoIds = Array.from({ length: 26 }, () => other)
    await expect(playlists.update(key, [], (current) => ({ ...current, videoIds }))).rejects.toThrow('playlist_video_position_check')
    expect((await playlists.find(key))?.playlist.videoIds).toEqual([])
  })

  test('loses a deleted video, and closes the gap at the next update', async () => {
    const upload = await catalogue.upload()
    const key = await createPlaylist([upload.videoId, other, upload.videoId])
    await catalogue.media.remove({ scope: '1', mediaId: upload.mediaId }, { userId: '7', callerId: '7', notes: '' })
    expect((await playlists.find(key))?.playlist.videoIds).toEqual([other])
    expect((await playlists.update(key, [other], (current) => removeVideo(current, other, 0))).videoIds).toEqual([])
  })

  test('stays correct while videos are deleted and added concurrently', async () => {
    const uploads = await Promise.all(Array.from({ length: 6 }, () => catalogue.upload()))
    const key = await createPlaylist(uploads.map((upload) => upload.videoId))
    const responses = await Promise.allSettled([
      ...uploads.map(({ mediaId }) => catalogue.media.remove({ scope: '1', mediaId }, { userId: '7', callerId: '7', notes: '' })),
      ...Array.from({ length: 6 }, () => add(key, other)),
    ])
    expect(responses.filter(({ status }) => status === 'rejected')).toEqual([])
    expect((await playlists.find(key))?.playlist.videoIds).toEqual(Array.from({ length: 6 }, () => other))
  })
})

test('playlists and videos of another organisation are not found, and nothing changes', async () => {
  const key = await createPlaylist([videoId])
  expect(await playlists.find({ ...key, scope: '2' })).toBeUndefined()
  expect(await playlists.find({ ...key, scope: null })).toBeDefined()
  const unchanged = (current: Playlist) => current
  await expect(playlists.update({ ...key, scope: '2' }, [], unchanged)).rejects.toMatchObject({ reason: 'PLAYLIST_NOT_FOUND' })
  // The playlist's organisation applies to system users too.
  for (const scope of ['1', null]) {
    for (const missing of [foreign, '99', 'x', "1' or true --"]) {
      await expect(playlists.update({ ...key, scope }, [other, missing], unchanged)).rejects.toMatchObject({
        kind: 'not_found',
        reason: 'VIDEO_NOT_FOUND',
        message: `no video ${missing}`,
      })
    }
  }
  expect((await playlists.find(key))?.playlist.videoIds).toEqual([videoId])
})

test('a playlist is IP-restricted if one of its videos is', async () => {
  const key = await createPlaylist([videoId])
  expect((await playlists.find(key))?.playlist.ipRestricted).toBe(false)
  const restricted = await catalogue.upload({ allowedIps: ['192.0.2.1'] })
  expect((await add(key, restricted.videoId)).ipRestricted).toBe(true)
})

test('an update stores every field and the time', async () => {
  const key = await createPlaylist()
  const before = await playlists.find(key)
  const fields = {
    playlistType: 'show',
    title: 'T',
    description: 'D',
    monetizationUrl: 'https://example.org/',
    randomise: true,
    videoLimit: 3,
    openInPlaylistView: true,
    settings: 'S',
    monetizationJson: '{"a":1}',
    videoIds: [other],
  }
  const after = await playlists.update(key, [other], (current) => ({ ...current, ...fields }))
  expect(after).toMatchObject(fields)
  expect(after.createTime).toEqual(before?.playlist.createTime)
  expect(after.updateTime.getTime()).toBeGreaterThanOrEqual(before?.playlist.updateTime.getTime() ?? Number.POSITIVE_INFINITY)
  expect((await playlists.find(key))?.playlist).toEqual(after)
})

describe('the list of an organisation', () => {
  const list = (more: { size?: number; token?: string; skip?: number } = {}, weight = 1) =>
    playlists.list({ organisationId: '2', size: 100, token: '', skip: 0, ...more, messageSize: () => weight })
  const titles = ({ playlists: page }: { playlists: Playlist[] }) => page.map(({ title }) => title)

  test('is returned oldest first, page by page', async () => {
    for (const title of ['a', 'b', 'c', 'd', 'e']) await createPlaylist([foreign], '2', title)
    // Two playlists with the same creation time.
    await catalogue.db.query(`update playlist set create_time = (select create_time from playlist where title = 'c') where title = 'd'`)
    const all = titles(await list())
    expect(all.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect([all[0], all[1], all[4]]).toEqual(['a', 'b', 'e'])
    expect(titles(await list({ skip: 2, size: 2 }))).toEqual(all.slice(2, 4))
    for (const [size, weight] of [
      [1, 1],
      [2, 1],
      [100, 2 * 1024 * 1024],
    ] as const) {
      const walked: string[] = []
      let token = ''
      do {
        const page = await list({ size, token }, weight)
        walked.push(...titles(page))
        token = page.nextPageToken
      } while (token !== '' && walked.length < 10)
      expect(walked).toEqual(all)
    }
    await expect(list({ token: 'x' })).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  })
})
