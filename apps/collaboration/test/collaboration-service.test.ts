import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { UserType } from '@vitascope/proto/auth/v1/user'
import { Clip } from '@vitascope/proto/collaboration/v1/clip'
import { Entry } from '@vitascope/proto/collaboration/v1/entry'
import { testLog, waitFor } from '@vitascope/testing'
import { createEntrySweep } from '../src/entry/entry-sweep.ts'
import { as, by, openFixture, repeatable } from './test-collaboration.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
let clients: typeof fixture.clients
beforeAll(async () => {
  fixture = await openFixture()
  clients = fixture.clients
})
afterAll(() => fixture.close())
beforeEach(() => {
  fixture.dependencies.requests.splice(0)
  fixture.dependencies.beforeResponse = async () => {}
})

const user = as('uploader')
const system = as('system', '99')
const foreignCaller = as('standard', '2')
const page = { pageSize: 0, pageToken: '', skip: 0 }
const times = { timeStart: 1, timeFinish: 2, type: 'video' }

async function createEntry(videoId = fixture.createVideo(), userId = fixture.createUser(), call = user): Promise<Entry> {
  return requireValue((await clients.entries.createEntry({ videoId, userId, email: '' }, call)).entry)
}
async function createClip({ collaborationId }: Entry, more: Partial<Clip> = {}, call = user): Promise<Clip> {
  return requireValue((await clients.clips.createClip({ clip: Clip.fromPartial({ collaborationId, ...times, ...more }) }, call)).clip)
}
function requireValue<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the response is empty')
  return value
}
const change = (collaborationId: string, fields: Partial<Entry>, updateMask: string[], call = user) =>
  clients.entries.updateEntry({ entry: Entry.fromPartial({ collaborationId, ...fields }), updateMask }, call)
const toNotFound = (noun: string) => ({ kind: 'not_found', reason: `${noun}_NOT_FOUND` })

/** Returns every call that names an entry or one of its clips. */
const listCalls = ({ collaborationId }: { collaborationId: string }, clipId: string, call = user): [string, () => Promise<unknown>][] => [
  ['COLLABORATION', () => clients.entries.getEntry({ collaborationId }, call)],
  ['COLLABORATION', () => change(collaborationId, { email: 'a@b' }, ['email'], call)],
  ['COLLABORATION', () => clients.entries.deleteEntry({ collaborationId }, call)],
  ['COLLABORATION', () => clients.clips.createClip({ clip: Clip.fromPartial({ collaborationId, ...times }) }, call)],
  ['COLLABORATION', () => clients.clips.orderClips({ collaborationId, clipIds: [clipId] }, call)],
  ['CLIP', () => clients.clips.getClip({ clipId }, call)],
  ['CLIP', () => clients.clips.updateClip({ clip: Clip.fromPartial({ clipId, title: 'x' }), updateMask: ['title'] }, call)],
  ['CLIP', () => clients.clips.deleteClip({ clipId }, call)],
]

describe('an entry', () => {
  test('has the email address and type of its user from auth', async () => {
    const [uploader, standard] = [fixture.createUser(), fixture.createUser('1', UserType.USER_TYPE_STANDARD)]
    const videoId = fixture.createVideo()
    const entry = await createEntry(videoId, uploader)
    const expected = { videoId, organisationId: '1', userId: uploader, createdByUserId: '900', clips: [] }
    const received = (await clients.entries.getEntry(entry, user)).entry
    expect(received).toMatchObject({ ...expected, email: `User${uploader}@example.org`, uploaderAccount: true })
    const { entry: now, previous } = await change(entry.collaborationId, { userId: standard }, ['user_id'])
    expect(previous).toEqual(received)
    expect(now).toMatchObject({ userId: standard, email: `User${standard}@example.org`, uploaderAccount: false })
    expect((await change(entry.collaborationId, { email: 'own@example.org' }, ['email'])).entry).toMatchObject({ email: 'own@example.org' })
    const last = (await change(entry.collaborationId, { email: '' }, ['email'])).entry
    expect(last).toMatchObject({ userId: standard, email: `User${standard}@example.org` })
    expect((await clients.entries.deleteEntry(entry, user)).entry).toEqual(last)
  })
  test('requires a user of the video’s organisation, which only system callers may omit', async () => {
    const videoId = fixture.createVideo()
    for (const userId of [fixture.createUser('2'), '123456', 'x']) {
      for (const call of [user, system]) await expect(createEntry(videoId, userId, call)).rejects.toMatchObject(toNotFound('USER'))
    }
    await expect(createEntry(videoId, '')).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'user_id' }] })
    const withoutUser = await createEntry(videoId, '', system)
    expect((await clients.entries.getEntry(withoutUser, user)).entry).toMatchObject({ userId: '', email: '', uploaderAccount: false })
    await expect(change(withoutUser.collaborationId, { userId: fixture.createUser('2') }, ['user_id'])).rejects.toMatchObject(
      toNotFound('USER'),
    )
    await expect(change(withoutUser.collaborationId, { userId: '' }, ['user_id'])).rejects.toMatchObject(toNotFound('USER'))
  })
  test('is created once per idempotency key, also when the video was deleted before the retry', async () => {
    const [videoId, userId] = [fixture.createVideo(), fixture.createUser()]
    const call = { ...user, ...repeatable('an entry of a service') }
    const first = await createEntry(videoId, userId, call)
    fixture.dependencies.videos.delete(videoId)
    expect(await createEntry(videoId, userId, call)).toEqual(first)
  })
  test('is found by its own or its user’s email address, newest first, and only while its user exists', async () => {
    const videoId = fixture.createVideo()
    const [firstUser, secondUser] = [fixture.createUser(), fixture.createUser()]
    const [first, second] = [await createEntry(videoId, firstUser), await createEntry(videoId, secondUser)]
    const findEntryId = async (email: string) => (await clients.entries.getEntryByEmail({ videoId, email }, user)).entry?.collaborationId
    expect(await findEntryId(`uSER${firstUser}@example.org`)).toBe(first.collaborationId)
    await change(second.collaborationId, { email: `User${firstUser}@example.org` }, ['email'])
    expect(await findEntryId(`User${firstUser}@example.org`)).toBe(second.collaborationId)
    expect(await findEntryId(`User${secondUser}@example.org`)).toBe(second.collaborationId)
    fixture.dependencies.users.delete(secondUser)
    expect(await findEntryId(`User${firstUser}@example.org`)).toBe(first.collaborationId)
    for (const email of [`User${secondUser}@example.org`, '', 'x', 'a\0', '%'])
      await expect(findEntryId(email)).rejects.toMatchObject(toNotFound('COLLABORATION'))
    const video = clients.entries.getEntryByEmail({ videoId, email: `User${firstUser}@example.org` }, foreignCaller)
    await expect(video).rejects.toMatchObject(toNotFound('VIDEO'))
  })
  test('accepts only the fields that its mask allows', async () => {
    const { collaborationId } = await createEntry()
    await expect(change(collaborationId, {}, ['organisation_id', 'clips'])).rejects.toMatchObject({
      fields: [{ field: 'update_mask' }, { field: 'update_mask' }],
    })
    for (const email of ['x', 'a b@c', `${'x'.repeat(253)}@b`]) {
      await expect(change(collaborationId, { email }, ['email'])).rejects.toMatchObject({ fields: [{ field: 'email' }] })
    }
  })
})

describe('a list', () => {
  test('sends one request to each dependency, for any number of entries', async () => {
    const videoId = fixture.createVideo()
    for (let count = 0; count < 25; count++) await createEntry(videoId)
    fixture.dependencies.requests.splice(0)
    const { entries, nextPageToken } = await clients.entries.listEntries({ videoId, ...page }, user)
    expect([entries.length, nextPageToken]).toEqual([25, ''])
    expect(entries.every(({ email, uploaderAccount }) => email !== '' && uploaderAccount)).toBe(true)
    expect(fixture.dependencies.requests.map(({ method, ids }) => [method, ids.length])).toEqual([
      ['videos', 1],
      ['users', 25],
    ])
  })
  test('omits entries whose user was deleted', async () => {
    const videoId = fixture.createVideo()
    const [deletedUser, remainingUser] = [fixture.createUser(), fixture.createUser()]
    for (const userId of [deletedUser, remainingUser, '']) await createEntry(videoId, userId, system)
    fixture.dependencies.users.delete(deletedUser)
    const { entries } = await clients.entries.listEntries({ videoId, ...page }, user)
    expect(entries.map(({ userId }) => userId)).toEqual([remainingUser, ''])
  })
  test('of the largest possible entries is split into pages that fit into messages', async () => {
    const videoId = fixture.createVideo()
    const first = await createEntry(videoId)
    for (let count = 1; count < 4; count++) await createEntry(videoId)
    const texts = ['🎬'.repeat(255), '🎬'.repeat(2_000), '🎬'.repeat(50)]
    await fixture.db.query(
      `insert into clip (entry_id, title, comments, type, time_start, time_finish, preview, position)
       select e.entry_id, $2, $3, $4, 2147483647, 2147483647, true, n from entry e, generate_series(0, 199) n where e.video_id = $1`,
      [videoId, ...texts],
    )
    let pages = 0
    let listed = 0
    for (let pageToken = ''; pageToken !== '' || pages === 0; pages++) {
      const { entries, nextPageToken } = await clients.entries.listEntries({ videoId, ...page, pageToken }, user)
      listed += entries.length
      pageToken = nextPageToken
    }
    expect([listed, pages]).toEqual([4, 4])
    expect((await change(first.collaborationId, { email: 'a@b' }, ['email'])).previous?.clips).toHaveLength(200)
    const clips = (await clients.entries.getEntry(first, user)).entry?.clips ?? []
    const clipIds = clips.map(({ clipId }) => clipId).toReversed()
    expect((await clients.clips.orderClips({ collaborationId: first.collaborationId, clipIds }, user)).clips).toHaveLength(200)
  })
})

describe('a clip', () => {
  test('must lie within its video if the duration is known', async () => {
    const [short, unknown] = [await createEntry(fixture.createVideo('1', 12.48)), await createEntry(fixture.createVideo('1', 'unknown'))]
    for (const [timeStart, timeFinish] of [
      [0, 0],
      [11, 12],
      [12, 12],
    ] as const) {
      expect(await createClip(short, { timeStart, timeFinish })).toMatchObject({ timeStart, timeFinish })
    }
    await expect(createClip(short, { timeFinish: 13 })).rejects.toMatchObject({ fields: [{ field: 'time_finish' }] })
    const { clipId } = await createClip(unknown, { timeFinish: 2_147_483_647 })
    const update = (fields: Partial<Clip>, updateMask: string[]) =>
      clients.clips.updateClip({ clip: Clip.fromPartial({ clipId, ...fields }), updateMask }, user)
    fixture.dependencies.videos.set(unknown.videoId, {
      videoId: unknown.videoId,
      organisationId: '1',
      durationSeconds: 5,
      texts: undefined,
      languages: [],
    })
    expect((await update({ title: 'Shorter now' }, ['title'])).clip).toMatchObject({ title: 'Shorter now', timeFinish: 2_147_483_647 })
    await expect(update({ timeStart: 3 }, ['time_start'])).rejects.toMatchObject({ fields: [{ field: 'time_start' }] })
    expect((await update({ timeStart: 4, timeFinish: 5 }, ['time_start', 'time_finish'])).clip).toMatchObject({ timeStart: 4 })
    expect((await update({ timeStartMillis: 480, resolved: true }, ['time_start_millis', 'resolved'])).clip).toMatchObject({
      ...{ timeStart: 4, timeStartMillis: 480, resolved: true },
    })
    await expect(update({ timeFinishMillis: 1 }, ['time_finish_millis'])).rejects.toMatchObject({ fields: [{ field: 'time_finish' }] })
    expect((await update({ timeStart: 3 }, ['time_start'])).clip).toMatchObject({ timeStart: 3, timeStartMillis: 0, resolved: true })
  })
  test('cannot be created with a chosen title, position or id', async () => {
    const entry = await createEntry()
    const created = await createClip(entry, { title: 'x', position: 9, clipId: '1', createTime: new Date(0) })
    expect(created).toMatchObject({ title: '', position: 0, createTime: expect.any(Date) })
    expect([created.clipId === '1', created.createTime?.getTime() === 0]).toEqual([false, false])
    expect(await clients.clips.getClip(created, user)).toEqual({ clip: created, videoId: entry.videoId, userId: entry.userId })
  })
  test('is ordered by a permutation and nothing else', async () => {
    const entry = await createEntry()
    const [first, second] = [await createClip(entry), await createClip(entry)]
    const order = (clipIds: string[]) => clients.clips.orderClips({ collaborationId: entry.collaborationId, clipIds }, user)
    for (const clipIds of [[], [first.clipId], [first.clipId, first.clipId], [first.clipId, 'x'], Array<string>(100_000).fill('1')]) {
      await expect(order(clipIds)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'clip_ids' }] })
    }
    expect(await order([second.clipId, first.clipId])).toEqual({
      clips: [
        { ...second, position: 0 },
        { ...first, position: 1 },
      ],
      previous: [first, second],
    })
  })
})

describe('permissions', () => {
  test('other organisations find and change nothing, as if the entry did not exist', async () => {
    const entry = await createEntry()
    const { clipId } = await createClip(entry)
    const before = (await clients.entries.getEntry(entry, user)).entry
    for (const [noun, foreign] of listCalls(entry, clipId, foreignCaller)) await expect(foreign()).rejects.toMatchObject(toNotFound(noun))
    for (const [noun, missing] of listCalls({ collaborationId: '9007199254740991' }, '9007199254740991')) {
      await expect(missing()).rejects.toMatchObject(toNotFound(noun))
    }
    await expect(clients.entries.listEntries({ ...entry, ...page }, foreignCaller)).rejects.toMatchObject(toNotFound('VIDEO'))
    await expect(createEntry(entry.videoId, fixture.createUser('2'), foreignCaller)).rejects.toMatchObject(toNotFound('VIDEO'))
    expect((await clients.entries.getEntry(entry, system)).entry).toEqual(before)
  })
  test('guests and services are rejected', async () => {
    const entry = await createEntry()
    const { clipId } = await createClip(entry)
    for (const [principal, kind] of [
      [{ kind: 'guest' }, 'unauthenticated'],
      [{ kind: 'service', service: 'gateway' }, 'forbidden'],
    ] as const) {
      const call = by(principal)
      for (const [, one] of listCalls(entry, clipId, call)) await expect(one()).rejects.toMatchObject({ kind })
      await expect(clients.entries.listEntries({ ...entry, ...page }, call)).rejects.toMatchObject({ kind })
      await expect(createEntry(entry.videoId, entry.userId, call)).rejects.toMatchObject({ kind })
    }
  })
})

describe('the dependencies', () => {
  test.each(['video', 'user'])('make an entry not found when its %s was deleted, until the sweep removes it', async (reference) => {
    const [entry, otherEntry] = [await createEntry(), await createEntry()]
    const { clipId } = await createClip(entry)
    if (reference === 'video') fixture.dependencies.videos.delete(entry.videoId)
    else fixture.dependencies.users.delete(entry.userId)
    for (const call of [user, system]) {
      for (const [noun, one] of listCalls(entry, clipId, call)) await expect(one()).rejects.toMatchObject(toNotFound(noun))
    }
    const { dependencies, entries } = fixture
    const summaries = {
      videos: { find: async () => new Map(dependencies.videos), require: async () => Promise.reject(new Error('not requested')) },
      users: {
        find: async () => new Map(dependencies.users),
        findByEmail: async () => undefined,
        require: async () => Promise.reject(new Error('not requested')),
      },
    }
    const failingSummaries = { ...summaries, users: { ...summaries.users, find: () => Promise.reject(new Error('away')) } }
    const { signal } = new AbortController()
    await expect(createEntrySweep(entries, failingSummaries, testLog).run(signal)).rejects.toThrow('away')
    expect(await entries.find({ scope: null, ...entry })).toBeDefined()
    const sweep = createEntrySweep(entries, summaries, testLog)
    for (let round = 0; round < 2; round++) await sweep.run(signal)
    expect(await entries.find({ scope: null, ...entry })).toBeUndefined()
    expect((await clients.entries.getEntry(otherEntry, user)).entry).toMatchObject({ collaborationId: otherEntry.collaborationId })
  })
  test('receive the identity of the service, and the caller’s request id, deadline and cancellation', async () => {
    const entry = await createEntry()
    // A read has a timeout of 2 s. The dependency receives the remaining time.
    const timeoutMs = 1_000
    await waitFor(() => {
      fixture.dependencies.requests.splice(0)
      return clients.entries.getEntry(entry, { ...user, deadline: new Date(Date.now() + timeoutMs) })
    })
    expect(fixture.dependencies.requests).toHaveLength(2)
    for (const { call, remainingMs } of fixture.dependencies.requests) {
      expect(call).toMatchObject({ principal: { kind: 'service', service: 'collaboration' }, requestId: 'the-request' })
      expect(remainingMs).toBeLessThanOrEqual(timeoutMs)
    }
    let cancelled = 0
    fixture.dependencies.beforeResponse = (call) =>
      new Promise((resolve) => {
        call.signal.addEventListener('abort', () => {
          cancelled++
          resolve()
        })
      })
    const controller = new AbortController()
    fixture.dependencies.requests.splice(0)
    const pending = clients.entries.getEntry(entry, { ...user, signal: controller.signal })
    pending.catch(() => {})
    await waitFor(() => fixture.dependencies.requests.length === 2)
    controller.abort()
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' })
    await waitFor(() => cancelled === 2)
  })
  test('make the call unavailable when they time out, and nothing is changed', async () => {
    const entry = await createEntry()
    fixture.dependencies.beforeResponse = () => new Promise(() => {})
    const deadline = new Date(Date.now() + 300)
    await expect(clients.entries.deleteEntry(entry, { ...user, deadline })).rejects.toMatchObject({ kind: 'unavailable' })
    fixture.dependencies.beforeResponse = async () => {}
    expect((await clients.entries.getEntry(entry, user)).entry).toMatchObject({ collaborationId: entry.collaborationId })
  })
})

// This test must be the last one, because it stops the dependencies.
test('while its dependencies are down, every call is unavailable and changes nothing', async () => {
  const entry = await createEntry()
  const { clipId } = await createClip(entry)
  const before = await fixture.entries.find({ scope: null, ...entry })
  await fixture.dependencies.stop()
  for (const [, one] of listCalls(entry, clipId)) await expect(one()).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(clients.entries.listEntries({ ...entry, ...page }, user)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(createEntry(entry.videoId, entry.userId)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await fixture.entries.find({ scope: null, ...entry })).toEqual(before)
})
