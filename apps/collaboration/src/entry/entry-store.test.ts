import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { collaborationDatabase, repeatable } from '../../test/test-collaboration.ts'
import type { NewEntry } from './entry-store.ts'

let fixture: Awaited<ReturnType<typeof collaborationDatabase>>
beforeAll(async () => {
  fixture = await collaborationDatabase()
})
afterAll(() => fixture.close())

const signal = new AbortController().signal
const newCall = () => ({ idempotency: undefined, signal })
let video = 4_611_686_018_427_000_000n
const nextVideoId = () => String(++video)
const create = (more: Partial<NewEntry> = {}, call: Parameters<typeof fixture.entries.create>[1] = newCall()) =>
  fixture.entries.create({ videoId: nextVideoId(), organisationId: '1', userId: '7', email: '', byUserId: '8', ...more }, call)
const all = { scope: null, after: '0', limit: 1_000, skip: 0 }
const times = { timeStart: 0, timeFinish: 0, timeStartMillis: 0, timeFinishMillis: 0 }
const emptyClip = { title: '', comments: '', ...times, type: 'video', preview: false, resolved: false }
const missing = { kind: 'not_found', reason: 'COLLABORATION_NOT_FOUND' }

describe('an entry', () => {
  test('is found as it was created, with its clips in order', async () => {
    const created = await create()
    const key = { scope: '1', collaborationId: created.collaborationId }
    const clip = {
      ...emptyClip,
      comments: 'A remark: "é"\n',
      timeStart: 1,
      timeStartMillis: 480,
      timeFinish: 2,
      preview: true,
      resolved: true,
    }
    const [first, second] = [await fixture.clips.create(key, clip, newCall()), await fixture.clips.create(key, clip, newCall())]
    expect(await fixture.entries.find(key)).toEqual({ ...created, clips: [first, second] })
    expect(await fixture.entries.findHead(key)).toEqual(created)
    expect(created).toMatchObject({
      userId: '7',
      email: '',
      createdByUserId: '8',
      lastModifiedByUserId: '8',
      updateTime: created.createTime,
    })
    expect(await create({ userId: '' })).toMatchObject({ userId: '' })
  })
  test('is created once per idempotency key, and a retry returns the first response', async () => {
    const call = { ...repeatable('an entry'), signal }
    expect(await fixture.entries.findCreated(call)).toBeUndefined()
    const first = await create({}, call)
    expect(await create({}, call)).toEqual(first)
    expect(await fixture.entries.findCreated(call)).toEqual(first)
    await expect(fixture.entries.findCreated({ ...repeatable('an entry', 'e'), signal })).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_MISMATCH',
    })
  })
  test('is returned with its previous state when it is updated', async () => {
    const { collaborationId, ...created } = await create()
    const key = { scope: null, collaborationId }
    const { entry, previous } = await fixture.entries.update(key, '9', () => ({ userId: '10', email: 'a@b' }))
    expect(previous).toEqual({ collaborationId, ...created, clips: [] })
    expect(entry).toEqual({ ...previous, userId: '10', email: 'a@b', lastModifiedByUserId: '9', updateTime: expect.any(Date) })
    expect(await fixture.entries.find(key)).toEqual(entry)
  })
  test('is deleted with its clips', async () => {
    const { collaborationId } = await create()
    const key = { scope: '1', collaborationId }
    const clip = await fixture.clips.create(key, emptyClip, newCall())
    expect((await fixture.entries.remove(key)).clips).toEqual([clip])
    expect(await fixture.clips.find({ scope: null, clipId: clip.clipId })).toBeUndefined()
    await expect(fixture.entries.remove(key)).rejects.toMatchObject(missing)
  })
  test.each(['2', '1'])('is not found outside its organisation or by an invalid id (organisation %s)', async (scope) => {
    const { collaborationId, videoId } = await create()
    for (const id of [...(scope === '2' ? [collaborationId] : []), '9007199254740991', 'x', '', '0', '9'.repeat(19), '9'.repeat(30)]) {
      const key = { scope, collaborationId: id }
      expect([await fixture.entries.find(key), await fixture.entries.findHead(key)]).toEqual([undefined, undefined])
      await expect(fixture.entries.update(key, '9', (current) => current)).rejects.toMatchObject(missing)
      await expect(fixture.entries.remove(key)).rejects.toMatchObject(missing)
    }
    expect(await fixture.entries.list({ ...all, scope: '2', videoId })).toEqual([])
    expect(await fixture.entries.findHeads({ scope: '2', videoId, email: '', userId: '7' })).toEqual([])
  })
})

describe('the entries of a video', () => {
  test('are listed oldest first, after a given entry', async () => {
    const videoId = nextVideoId()
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push((await create({ videoId })).collaborationId)
    const listed = async (overrides: object) =>
      (await fixture.entries.list({ ...all, videoId, ...overrides })).map((one) => one.collaborationId)
    expect(await listed({})).toEqual(ids)
    expect(await listed({ scope: '1', after: ids[0], limit: 1 })).toEqual([ids[1]])
    expect(await listed({ skip: 2 })).toEqual([ids[2]])
  })
  test('are found by an email address or a user, newest first', async () => {
    const videoId = nextVideoId()
    const [first, second] = [(await create({ videoId })).collaborationId, (await create({ videoId, userId: '8' })).collaborationId]
    await fixture.entries.update({ scope: null, collaborationId: first }, '9', () => ({ userId: '7', email: 'Some.One@example.org' }))
    const findIds = async (email: string, userId?: string) =>
      (await fixture.entries.findHeads({ scope: '1', videoId, email, userId })).map((one) => one.collaborationId)
    expect(await findIds('some.one@EXAMPLE.org')).toEqual([first])
    expect(await findIds('x', '7')).toEqual([first])
    expect(await findIds('some.one@example.org', '8')).toEqual([second, first])
    expect(await findIds('x')).toEqual([])
  })
  test('are limited to 100, also with concurrent creations', async () => {
    const videoId = nextVideoId()
    for (let count = 0; count < 99; count++) await create({ videoId })
    const raced = await Promise.allSettled(Array.from({ length: 8 }, () => create({ videoId })))
    expect(raced.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(create({ videoId })).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'COLLABORATION_FULL' })
    expect(await fixture.entries.list({ ...all, videoId })).toHaveLength(100)
  })
})

test('an entry without references is removed, unless it has gained another reference', async () => {
  const [referenced, unreferenced, moved] = [await create(), await create({ userId: '' }), await create()]
  const references = await fixture.entries.listReferences(String(Number(referenced.collaborationId) - 1), 3)
  expect(references.map((one) => one.collaborationId)).toEqual([referenced, unreferenced, moved].map((one) => one.collaborationId))
  await fixture.entries.update({ scope: null, collaborationId: moved.collaborationId }, '9', () => ({ userId: '70', email: '' }))
  expect(await fixture.entries.removeAll(references.slice(1))).toBe(1)
  expect(
    (await fixture.entries.listReferences(String(Number(referenced.collaborationId) - 1), 3)).map((one) => one.collaborationId),
  ).toEqual([referenced.collaborationId, moved.collaborationId])
})
