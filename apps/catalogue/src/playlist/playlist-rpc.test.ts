import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Call, Principal } from '@vitascope/grpc'
import { serviceCall } from '@vitascope/grpc'
import { Playlist } from '@vitascope/proto/catalogue/v1/playlist'
import { buildOrganisation } from '../../test/builders.ts'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createOrganisations } from '../organisation-replica/organisation.ts'
import { playlistHandlers } from './playlist-rpc.ts'
import { createPlaylistStore } from './playlist-store.ts'

const toCall = (principal: Principal): Call => ({ ...serviceCall('test', 'r'), principal })
const user = (organisationId: string, userType: 'uploader' | 'system' = 'uploader') =>
  toCall({ kind: 'user', keyId: '3', userId: '7', organisationId, userType })
const owner = user('1')
const foreignCaller = user('2')
const system = user('2', 'system')
const guest = toCall({ kind: 'guest' })

let catalogue: CatalogueDatabase
let handlers: ReturnType<typeof playlistHandlers>
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  handlers = playlistHandlers(
    createPlaylistStore(catalogue.db),
    createOrganisations(catalogue.organisations, async () => undefined),
  )
})
afterAll(() => catalogue.close())

async function createPlaylist(videoIds: string[]): Promise<string> {
  const { playlistId } = await handlers.createPlaylist({ organisationId: '1', title: 'Launches', description: '' }, owner)
  await handlers.updatePlaylist({ playlist: Playlist.create({ playlistId, videoIds }), updateMask: ['video_ids'] }, owner)
  return playlistId
}
const createVideo = async (fields = {}) => (await catalogue.upload(fields)).videoId
const listIds = ({ videos }: { videos: { videoId: string }[] }) => videos.map(({ videoId }) => videoId)

test('every caller sees the public videos of a playlist', async () => {
  const open = await createVideo({ descriptionPrivate: 'for us' })
  const hidden = await createVideo({ enabled: false, allowedIps: ['192.0.2.1'] })
  const expired = await createVideo({ contentExpiry: { expireTime: new Date(0), message: '' } })
  const playlistId = await createPlaylist([open, hidden, expired, open])
  const own = await handlers.getPlaylist({ playlistId, skip: 0 }, owner)
  expect([listIds(own), own.playlist?.videoIds, own.playlist?.ipRestricted]).toEqual([
    [open, hidden, expired, open],
    [open, hidden, expired, open],
    true,
  ])
  const publicResponse = await handlers.findPublicPlaylist({ playlistId, skip: 0 }, guest)
  expect([listIds(publicResponse), publicResponse.playlist?.videoIds, publicResponse.playlist?.ipRestricted]).toEqual([
    [open, open],
    [open, open],
    false,
  ])
  expect(publicResponse.videos[0]?.descriptionPrivate).toBe('')
  expect(publicResponse.nextSkip).toBe(0)
})

test('a playlist of large videos is returned in parts that fit into messages, each video once', async () => {
  // About 100 kB each, as JSON texts of four-byte characters.
  const large = JSON.stringify({ a: '\u{1f600}'.repeat(9_000) })
  const fields = { javascriptApiJson: large, monetizationJson: large, eventsTriggeredByClickJson: large }
  const largeVideoId = await createVideo({ ...fields, description: '\u{1f600}'.repeat(5_000) })
  const playlistId = await createPlaylist([...Array.from({ length: 24 }, () => largeVideoId), largeVideoId])
  for (const readPart of [
    (skip: number) => handlers.getPlaylist({ playlistId, skip }, owner),
    (skip: number) => handlers.findPublicPlaylist({ playlistId, skip }, guest),
  ]) {
    const ids: string[] = []
    let parts = 0
    let skip = 0
    do {
      const response = await readPart(skip)
      ids.push(...listIds(response))
      skip = response.nextSkip
      parts++
    } while (skip > 0 && parts < 25)
    expect(ids).toHaveLength(25)
    expect(parts).toBe(2)
  }
  expect(listIds(await handlers.getPlaylist({ playlistId, skip: 25 }, owner))).toEqual([])
})

test('a playlist of an inactive organisation is not found', async () => {
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '1', revision: 2, active: false }))
  const playlistId = await createPlaylist([])
  await expect(handlers.findPublicPlaylist({ playlistId, skip: 0 }, guest)).rejects.toMatchObject({ reason: 'PLAYLIST_NOT_FOUND' })
  await catalogue.organisations.apply(buildOrganisation({ organisationId: '1', revision: 3 }))
  expect((await handlers.findPublicPlaylist({ playlistId, skip: 0 }, guest)).playlist?.playlistId).toBe(playlistId)
})

test('a playlist of another organisation returns the same error as a missing one', async () => {
  const videoId = await createVideo()
  const playlistId = await createPlaylist([videoId])
  for (const [id, caller] of [
    [playlistId, foreignCaller],
    ['99', owner],
    ['x', owner],
  ] as const) {
    const expectedError = { kind: 'not_found', reason: 'PLAYLIST_NOT_FOUND', message: `no playlist ${id}` }
    await expect(handlers.getPlaylist({ playlistId: id, skip: 0 }, caller)).rejects.toMatchObject(expectedError)
    await expect(handlers.addVideoToPlaylist({ playlistId: id, videoId }, caller)).rejects.toMatchObject(expectedError)
    await expect(handlers.removeVideoFromPlaylist({ playlistId: id, videoId }, caller)).rejects.toMatchObject(expectedError)
    const playlist = Playlist.create({ playlistId: id, title: 'X' })
    await expect(handlers.updatePlaylist({ playlist, updateMask: ['title'] }, caller)).rejects.toMatchObject(expectedError)
  }
  await expect(handlers.getPlaylist({ playlistId, skip: 0 }, guest)).rejects.toMatchObject({ kind: 'unauthenticated' })
  const list = { pageSize: 0, pageToken: '', skip: 0 }
  await expect(handlers.listPlaylists({ ...list, organisationId: '2' }, owner)).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
  await expect(handlers.listPlaylists({ ...list, organisationId: '' }, system)).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
  await expect(handlers.listPlaylists({ ...list, organisationId: '77' }, system)).rejects.toMatchObject({
    reason: 'ORGANISATION_NOT_FOUND',
  })
  expect((await handlers.listPlaylists({ ...list, organisationId: '' }, owner)).playlists.map((playlist) => playlist.playlistId)).toContain(
    playlistId,
  )
})

test.each([-1, 25])('position %d is rejected', async (position) => {
  const videoId = await createVideo()
  const playlistId = await createPlaylist([videoId])
  await expect(handlers.removeVideoFromPlaylist({ playlistId, videoId, position }, owner)).rejects.toMatchObject({
    reason: 'INVALID_INPUT',
  })
})
