import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type CatalogueDatabase, catalogueDatabase } from '../../test/catalogue-database.ts'
import { createPlaybackSessionStore, type PlaybackSessionStore } from './playback-session-store.ts'

let catalogue: CatalogueDatabase
let store: PlaybackSessionStore
let videoId: string
beforeAll(async () => {
  catalogue = await catalogueDatabase()
  store = createPlaybackSessionStore(catalogue.db)
})
beforeEach(async () => {
  await catalogue.db.query('delete from playback_session')
  videoId = (await catalogue.play()).videoId
})
afterAll(() => catalogue.close())

const device = (sessionId: string, more: { tokenId?: string; maxSessions?: number; firstRequestAgeMs?: number } = {}) => ({
  ...{ videoId, sessionId, tokenId: 'one', maxSessions: 2, address: '192.0.2.7', userAgent: `browser ${sessionId}`, firstRequestAgeMs: 0 },
  ...more,
})
/** Moves the requests of a session into the past. */
const age = (sessionId: string, seconds: number) =>
  catalogue.db.query(
    `update playback_session set start_time = start_time - $2 * interval '1 second', last_request_time = last_request_time - $2 * interval '1 second'
     where session_id = $1`,
    [sessionId, seconds],
  )

test('the devices that began first may continue, and a later one when one of them has ended', async () => {
  expect(await store.report([device('a'), device('b')])).toEqual(['active', 'active'])
  expect(await store.report([device('c'), device('a')])).toEqual(['too_many', 'active'])
  expect(await store.report([device('c', { tokenId: 'two' })])).toEqual(['active'])
  await age('b', 31)
  expect(await store.report([device('c')])).toEqual(['active'])
  // It begins again, after the others.
  expect(await store.report([device('b'), device('c'), device('a')])).toEqual(['too_many', 'active', 'active'])
  expect(await store.report([device('b', { maxSessions: 3 })])).toEqual(['active'])
})

test('of devices in one report, those whose first request was earlier may continue', async () => {
  const limit = { maxSessions: 1 }
  const devices = [device('a', limit), device('b', { ...limit, firstRequestAgeMs: 900 }), device('c', { ...limit, firstRequestAgeMs: 100 })]
  expect(await store.report(devices)).toEqual(['too_many', 'active', 'too_many'])
})

test('a device that a user ended stays ended, and another one may begin', async () => {
  await store.report([device('a'), device('b'), device('c')])
  const target = { scope: '1', videoId }
  await store.end({ ...target, sessionId: 'a' })
  await store.end({ ...target, sessionId: 'a' })
  expect(await store.report([device('a'), device('b'), device('c')])).toEqual(['ended', 'active', 'active'])
  await expect(store.end({ ...target, sessionId: 'x' })).rejects.toMatchObject({ reason: 'SESSION_NOT_FOUND' })
  for (const scope of ['2', '7']) {
    await expect(store.end({ scope, videoId, sessionId: 'b' })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
    await expect(store.list({ scope, videoId })).rejects.toMatchObject({ reason: 'VIDEO_NOT_FOUND' })
  }
})

test('sessions are listed newest first, and deleted after an hour', async () => {
  await store.report([device('a', { maxSessions: 1 })])
  await age('a', 40)
  await store.report([device('b', { maxSessions: 1 }), device('c', { maxSessions: 1 })])
  const listed = await store.list({ scope: '1', videoId })
  expect(listed.map(({ sessionId, state, userAgent }) => [sessionId, state, userAgent])).toEqual(
    expect.arrayContaining([
      ['a', 'idle', 'browser a'],
      ['b', 'active', 'browser b'],
      ['c', 'too_many', 'browser c'],
    ]),
  )
  expect(listed.at(-1)?.sessionId).toBe('a')
  await age('a', 3_600)
  expect(await store.sweep(100)).toBe(1)
  expect((await store.list({ scope: null, videoId })).map(({ sessionId }) => sessionId).sort()).toEqual(['b', 'c'])
})

test('a report of a deleted video changes nothing', async () => {
  expect(await store.report([{ ...device('a'), videoId: '1' }])).toEqual(['active'])
})
