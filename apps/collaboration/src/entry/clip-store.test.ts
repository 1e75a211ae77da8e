import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { collaborationDatabase, repeatable } from '../../test/test-collaboration.ts'

let fixture: Awaited<ReturnType<typeof collaborationDatabase>>
beforeAll(async () => {
  fixture = await collaborationDatabase()
})
afterAll(() => fixture.close())

const signal = new AbortController().signal
const newCall = () => ({ idempotency: undefined, signal })
const times = { timeStart: 1, timeFinish: 2, timeStartMillis: 480, timeFinishMillis: 0 }
const fields = { title: '', comments: 'x', ...times, type: 'video', preview: false, resolved: false }

async function createEntry(clips = 0) {
  const { collaborationId } = await fixture.entries.create(
    { videoId: '5', organisationId: '1', userId: '7', email: '', byUserId: '8' },
    newCall(),
  )
  const key = { scope: '1', collaborationId }
  const ids: string[] = []
  for (let count = 0; count < clips; count++) ids.push((await fixture.clips.create(key, fields, newCall())).clipId)
  await fixture.db.query('update entry set video_id = entry_id where entry_id = $1', [collaborationId])
  return { key, ids }
}
type Key = Awaited<ReturnType<typeof createEntry>>['key']
const positions = async (key: Key) => ((await fixture.entries.find(key))?.clips ?? []).map(({ clipId, position }) => [clipId, position])
const inOrder = (ids: (string | undefined)[]) => ids.map((clipId, position) => [clipId, position])

describe('a clip', () => {
  test('is appended as the last one, and is found with the references of its entry', async () => {
    const { key, ids } = await createEntry(2)
    const clip = await fixture.clips.create(key, { ...fields, preview: true }, newCall())
    expect(clip).toEqual({
      ...fields,
      preview: true,
      collaborationId: key.collaborationId,
      clipId: expect.any(String),
      position: 2,
      createTime: expect.any(Date),
    })
    expect(await fixture.clips.find({ scope: '1', clipId: clip.clipId })).toEqual({ clip, videoId: key.collaborationId, userId: '7' })
    expect(await positions(key)).toEqual(inOrder([...ids, clip.clipId]))
  })
  test('is created once per idempotency key, and a retry returns the first response', async () => {
    const { key } = await createEntry()
    const call = { ...repeatable('a clip'), signal }
    const first = await fixture.clips.create(key, fields, call)
    expect([await fixture.clips.create(key, fields, call), await fixture.clips.findCreated(call)]).toEqual([first, first])
    expect(await positions(key)).toEqual(inOrder([first.clipId]))
  })
  test('is returned with its previous state when it is updated', async () => {
    const { ids } = await createEntry(1)
    const moved = { timeStart: 3, timeFinish: 4, timeStartMillis: 0, timeFinishMillis: 999 }
    const change = { title: 'T', comments: 'C', ...moved, type: 'audio', preview: true, resolved: true }
    const { clip, previous } = await fixture.clips.update({ scope: null, clipId: ids[0] ?? '' }, () => change)
    expect([previous, clip]).toEqual([expect.objectContaining(fields), { ...previous, ...change }])
  })
  test('leaves no gap in the positions when it is deleted', async () => {
    const { key, ids } = await createEntry(4)
    expect(await fixture.clips.remove({ scope: '1', clipId: ids[1] ?? '' })).toMatchObject({ clipId: ids[1], position: 1 })
    expect(await positions(key)).toEqual(inOrder([ids[0], ids[2], ids[3]]))
    await fixture.clips.create(key, fields, newCall())
    expect((await positions(key)).map(([, place]) => place)).toEqual([0, 1, 2, 3])
  })
  test('is not found in another organisation or by an invalid id', async () => {
    const { key, ids } = await createEntry(1)
    const foreign = { ...key, scope: '2' }
    await expect(fixture.clips.create(foreign, fields, newCall())).rejects.toMatchObject({ reason: 'COLLABORATION_NOT_FOUND' })
    await expect(fixture.clips.order(foreign, ids)).rejects.toMatchObject({ reason: 'COLLABORATION_NOT_FOUND' })
    for (const [scope, clipId] of [
      ['2', ids[0] ?? ''],
      ['1', '9007199254740991'],
      [null, 'x'],
      [null, ''],
      [null, '9'.repeat(19)],
    ] as const) {
      expect(await fixture.clips.find({ scope, clipId })).toBeUndefined()
      const expectedError = { kind: 'not_found', reason: 'CLIP_NOT_FOUND' }
      await expect(fixture.clips.update({ scope, clipId }, (current) => current)).rejects.toMatchObject(expectedError)
      await expect(fixture.clips.remove({ scope, clipId })).rejects.toMatchObject(expectedError)
    }
    expect(await positions(key)).toEqual(inOrder(ids))
  })
})

describe('the clips of an entry', () => {
  test('are stored in the requested order', async () => {
    const { key, ids } = await createEntry(3)
    const [one = '', two = '', three = ''] = ids
    const before = (await fixture.entries.find(key))?.clips
    const { clips, previous } = await fixture.clips.order(key, [three, one, two])
    expect(previous).toEqual(before)
    expect((await fixture.entries.find(key))?.clips).toEqual(clips)
    expect(await positions(key)).toEqual(inOrder([three, one, two]))
    await expect(fixture.clips.order(key, [one, two])).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'clip_ids' }] })
    expect(await positions(key)).toEqual(inOrder([three, one, two]))
  })
  test('are limited to 200, also with concurrent creations', async () => {
    const { key } = await createEntry(199)
    const raced = await Promise.allSettled(Array.from({ length: 8 }, () => fixture.clips.create(key, fields, newCall())))
    expect(raced.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(fixture.clips.create(key, fields, newCall())).rejects.toMatchObject({ kind: 'failed_precondition', reason: 'CLIPS_FULL' })
    const ids = (await positions(key)).map(([clipId]) => String(clipId))
    expect((await fixture.clips.order(key, ids.toReversed())).clips).toHaveLength(200)
    expect(await positions(key)).toEqual(inOrder(ids.toReversed()))
  })
  test('have positions without gaps or duplicates after concurrent changes, none of which fails unexpectedly', async () => {
    for (let round = 0; round < 5; round++) {
      const { key, ids } = await createEntry(6)
      const results = await Promise.allSettled([
        ...ids.slice(0, 3).map((clipId) => fixture.clips.remove({ scope: '1', clipId })),
        ...ids.map((clipId) => fixture.clips.update({ scope: '1', clipId }, (current) => ({ ...current, title: 'now' }))),
        ...Array.from({ length: 4 }, () => fixture.clips.create(key, fields, newCall())),
        fixture.clips.order(key, ids.toReversed()),
        ...(round === 4 ? [fixture.entries.remove(key)] : []),
      ])
      const faults = results.flatMap((result) => (result.status === 'rejected' ? [String((result.reason as { kind?: string }).kind)] : []))
      expect(faults.filter((kind) => kind !== 'not_found' && kind !== 'invalid')).toEqual([])
      const current = (await positions(key)).map(([, place]) => place)
      expect(current).toEqual(current.map((_, place) => place))
    }
  })
})
