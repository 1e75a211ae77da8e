import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { type FreshDatabase, freshDatabase, testLog } from '@vitascope/testing'
import { type Ask, createQueue, type Lease, type LeasedItem, type Queue, type WorkItem } from './index.ts'

let database: FreshDatabase
let db: Db
let queue: Queue

beforeAll(async () => {
  database = await freshDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'queue' })
  db = openPostgres({ url: database.url, schema: 'queue', log: testLog, poolSize: 8 })
  queue = createQueue(db)
})
beforeEach(() => db.query('delete from work_item'))
afterAll(async () => {
  await db.close()
  await database.drop()
})

const anItem = (more: Partial<WorkItem> = {}): WorkItem => ({ key: 'job:1', kind: 'encode', group: 'a', priority: 0, payload: {}, ...more })
const send = (more: Partial<WorkItem> = {}) => db.transaction((tx) => queue.send(tx, anItem(more)))
const never = new AbortController().signal
const lease = (holder = 'w1', leaseMs = 30_000) => queue.lease({ kinds: ['encode'], holder, leaseMs }, never)
const complete = (held: Lease) => db.transaction((tx) => queue.complete(tx, held))
const retry = (held: Lease, delayMs = 0) => db.transaction((tx) => queue.retry(tx, held, delayMs))
const release = (held: Lease) => db.transaction((tx) => queue.release(tx, held))
const rescue = (held: Lease) => db.transaction((tx) => queue.rescue(tx, held, 0))
/** As if the lease had run out: moving the row's time is moving the only clock there is. */
const runOut = () => db.query(`update work_item set lease_end = lease_end - interval '1 hour' where state = 'leased'`)
const row = async () => JSON.stringify(await db.query('select * from work_item order by item_id'))

async function leased(holder?: string): Promise<LeasedItem> {
  const item = await lease(holder)
  if (!item) throw new Error('nothing to lease')
  return item
}

describe('a stale holder', () => {
  test.each([
    ['rescued', async () => expect(await rescue((await queue.expired(9))[0] ?? { itemId: '0', fence: 0 })).toBe(true)],
    ['released', async (held: Lease) => expect(await release(held)).toBe(true)],
    ['given back to be tried again', async (held: Lease) => expect(await retry(held)).toBe(true)],
  ])('whose item was %s, and then leased by another, touches nothing', async (_, loses) => {
    await send()
    const stale = await leased('w1')
    await runOut()
    await loses(stale)
    const fresh = await leased('w2')
    expect(fresh.itemId).toBe(stale.itemId)
    expect(fresh.fence).toBeGreaterThan(stale.fence)
    const before = await row()
    expect(await complete(stale)).toBe(false)
    expect(await queue.beat(stale)).toBe(false)
    expect(await retry(stale)).toBe(false)
    expect(await release(stale)).toBe(false)
    expect(await rescue(stale)).toBe(false)
    expect(await row()).toBe(before)
    expect(await queue.beat(fresh)).toBe(true)
    expect(await complete(fresh)).toBe(true)
  })
  test('cannot end an item that waits again, nor one that is done or cancelled', async () => {
    await send()
    const first = await leased()
    await release(first)
    expect(await complete(first)).toBe(false)
    const second = await leased()
    expect(await complete(second)).toBe(true)
    expect(await complete(second)).toBe(false)
    expect(await queue.beat(second)).toBe(false)
    await db.transaction((tx) => queue.cancel(tx, 'job:1'))
    expect(await queue.beat(second)).toBe(false)
  })
  test('and the one who completed are told apart after a lost answer', async () => {
    await send()
    const stale = await leased()
    await release(stale)
    const fresh = await leased()
    await complete(fresh)
    expect(await db.transaction((tx) => queue.completedBy(tx, fresh))).toBe(true)
    expect(await db.transaction((tx) => queue.completedBy(tx, stale))).toBe(false)
  })
})

describe('a rescue', () => {
  test('against a completion: one of them wins, in whatever order they come', async () => {
    for (let round = 0; round < 60; round++) {
      await send()
      const held = await leased()
      await runOut()
      const both = round % 2 === 0 ? [complete(held), rescue(held)] : [rescue(held), complete(held)]
      const won = await Promise.all(both)
      expect(won.filter(Boolean)).toHaveLength(1)
      const completed = won[round % 2]
      const [{ state } = { state: '' }] = await db.query<{ state: string }>('select state from work_item')
      expect(state).toBe(completed ? 'done' : 'waiting')
      await db.query('delete from work_item')
    }
  })
  test('that read its candidates before the completion takes nothing back', async () => {
    await send()
    const held = await leased()
    await runOut()
    const [candidate] = await queue.expired(9)
    expect(candidate).toEqual(held)
    await complete(held)
    expect(await rescue(held)).toBe(false)
  })
  test('leaves a lease alone that was renewed after it was seen as run out', async () => {
    await send()
    const held = await leased()
    await runOut()
    expect(await queue.expired(9)).toHaveLength(1)
    expect(await queue.beat(held)).toBe(true)
    expect(await rescue(held)).toBe(false)
    expect(await complete(held)).toBe(true)
  })
  test('is undone with the transaction that it is part of', async () => {
    await send()
    const held = await leased()
    await runOut()
    const failed = db.transaction(async (tx) => {
      await queue.rescue(tx, held, 0)
      throw new Error('the rest of the transaction fails')
    })
    await expect(failed).rejects.toThrow('the rest')
    expect(await complete(held)).toBe(true)
  })
})

describe('the line', () => {
  test('what is heavier than there is room for is left to others', async () => {
    await send({ weight: 500, priority: 10 })
    const light = await send({ weight: 100 })
    const ask = (room?: number) =>
      queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000, ...(room !== undefined && { room }) }, never)
    expect((await ask(499))?.itemId).toBe(light)
    expect(await ask(499)).toBeUndefined()
    expect(await ask(500)).toBeDefined()
    await send({ weight: 1_000_000 })
    expect(await ask()).toBeDefined()
  })
  test('whoever asks for one key gets the items of it in the order in which they were sent, and nothing else', async () => {
    await send({ key: 'job:2', group: 'b', priority: 9 })
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.push(await send())
    const ask = (holder: string) => queue.lease({ kinds: ['encode'], holder, leaseMs: 30_000, key: 'job:1' }, never)
    const first = await Promise.all(['w1', 'w2', 'w3'].map(ask))
    const held = first.flatMap((item) => item ?? [])
    expect(held.map(({ itemId }) => itemId).sort()).toEqual(ids.slice(0, 3))
    const again = held.find(({ itemId }) => itemId === ids[1])
    if (again) await retry(again)
    const next = [await ask('w1'), await ask('w2'), await ask('w3'), await ask('w4'), await ask('w5')]
    expect(next.map((item) => item?.itemId)).toEqual([ids[1], ids[3], ids[4], ids[5], undefined])
  })
  test('is not passed over for ever by those who have no room for the first in it', async () => {
    const ask = async (room?: number) =>
      (await queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000, ...(room !== undefined && { room }) }, never))?.itemId
    const [heavy, light, next] = [await send({ weight: 500 }), await send({ weight: 100 }), await send({ weight: 100, priority: -1 })]
    const weightless = await send({ priority: -2 })
    expect(await ask(400)).toBe(light)
    const passed = () => db.query<{ item_id: string }>('select item_id from work_item where passed_time is not null')
    expect(await passed()).toEqual([{ item_id: heavy }])
    await db.query(`update work_item set passed_time = passed_time - interval '1 minute'`)
    expect(await ask(400)).toBe(weightless)
    expect(await ask(400)).toBeUndefined()
    expect(await ask(500)).toBe(heavy)
    expect(await ask(400)).toBe(next)
  })
  test('leaves what is of a low priority alone: always, or while something of a higher one is due', async () => {
    const low = await send({ kind: 'sound', priority: -1 })
    const ask = async (more: Partial<Ask>) =>
      (await queue.lease({ kinds: ['sound'], holder: 'w1', leaseMs: 30_000, ...more }, never))?.itemId
    const way = { priority: 0, kinds: ['sound', 'encode'] }
    expect(await ask({ least: 0 })).toBeUndefined()
    await send({ priority: 0 })
    expect(await ask({ way })).toBeUndefined()
    const held = await leased()
    await retry(held, 60_000)
    expect(await ask({ way })).toBe(low)
    const normal = await send({ kind: 'sound', priority: 0 })
    expect(await ask({ least: 0, way })).toBe(normal)
  })
  test('gives every item to one of many who ask at once', async () => {
    for (let i = 0; i < 20; i++) await send()
    const items = await Promise.all(Array.from({ length: 30 }, (_, i) => lease(`w${i}`)))
    const ids = items.filter((item) => item !== undefined).map((item) => item.itemId)
    expect(new Set(ids).size).toBe(20)
    expect(ids).toHaveLength(20)
  })
  test('serves a group with one item after at most one more of a group with many', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 1_000; i++) await queue.send(tx, anItem({ key: `job:${i}`, group: 'many' }))
    })
    await complete(await leased())
    await send({ key: 'job:1000', group: 'one' })
    const groups = [(await leased('w1')).group, (await leased('w2')).group]
    expect(groups).toContain('one')
  })
  test('gives a group its turn whatever it has of a lower priority, and that of others takes nobody a turn', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 20; i++) await queue.send(tx, anItem({ group: 'archive', priority: -90 }))
      for (let i = 0; i < 6; i++) await queue.send(tx, anItem({ group: 'busy', priority: 10 }))
    })
    await send({ group: 'archive', priority: 10 })
    const first = [(await leased()).group, (await leased()).group]
    expect(first.sort()).toEqual(['archive', 'busy'])
    await send({ group: 'new', priority: 10 })
    await send({ group: 'new', priority: 10 })
    const next = [await leased(), await leased(), await leased(), await leased()].map(({ group }) => group)
    expect(next.sort()).toEqual(['busy', 'busy', 'new', 'new'])
  })
  test('puts a higher priority first, and within a group the oldest', async () => {
    const low = await send()
    const later = await send()
    const high = await send({ priority: 10 })
    expect([(await leased()).itemId, (await leased()).itemId, (await leased()).itemId]).toEqual([high, low, later])
  })
  test('holds an item back until its delay is over', async () => {
    await send()
    await retry(await leased(), 60_000)
    expect(await lease()).toBeUndefined()
    await db.query(`update work_item set due_time = now() - interval '1 second'`)
    expect(await lease()).toBeDefined()
  })
  test('gives an item out at once to someone who waits for it', async () => {
    const waiting = queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 1000, waitMs: 20_000 }, never)
    const started = performance.now()
    await send()
    expect(await waiting).toBeDefined()
    expect(performance.now() - started).toBeLessThan(450)
  })
  test('shows an item only once the transaction that sends it is committed', async () => {
    await db.transaction(async (tx) => {
      await queue.send(tx, anItem())
      expect(await lease()).toBeUndefined()
    })
    expect(await lease()).toBeDefined()
  })
  test('stops to wait when the asker hangs up', async () => {
    const asker = new AbortController()
    const waiting = queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 1000, waitMs: 20_000 }, asker.signal)
    asker.abort(new Error('hung up'))
    await expect(waiting).rejects.toThrow('hung up')
  })
  test('answers an item again to the ask that it was leased to, once that ask lost its answer', async () => {
    await send()
    await send()
    const ask = (name: string, holder = 'w1') => queue.lease({ kinds: ['encode'], holder, leaseMs: 30_000, ask: name }, never)
    const lost = await ask('first')
    const before = await row()
    expect(await ask('first')).toEqual(lost)
    expect(await row()).toBe(before)
    const second = await ask('second')
    expect(second?.itemId).not.toBe(lost?.itemId)
    expect(await ask('first', 'w2')).toBeUndefined()
    await release(lost ?? { itemId: '0', fence: 0 })
    expect((await ask('first', 'w2'))?.itemId).toBe(lost?.itemId)
    expect(await ask('first')).toBeUndefined()
    expect(await complete(second ?? { itemId: '0', fence: 0 })).toBe(true)
    expect(await ask('second')).toBeUndefined()
  })
  test('counts what waits and what is leased', async () => {
    await send()
    await send()
    await leased()
    expect(await queue.depth()).toEqual([{ kind: 'encode', waiting: 1, leased: 1 }])
  })
})

test('no time of this machine reaches a statement', async () => {
  const source = await readFile(join(import.meta.dirname, 'create-queue.ts'), 'utf8')
  expect(source).not.toMatch(/\bDate\b/)
})

test('tells what holders hold', async () => {
  await send()
  await send()
  const held = await leased('w1')
  await leased('w2')
  expect(await queue.heldBy(['w1', 'w3'])).toEqual([held])
})
