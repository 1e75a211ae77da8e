// Faults: R11, C4, C24
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createTestDatabase, shortestDurationMs, type TestDatabase, testLog } from '@vitascope/testing'
import { createQueue, type Lease, type LeasedItem, type LeaseRequest, type Queue, type WorkItem } from './index.ts'

let database: TestDatabase
let db: Db
let queue: Queue

beforeAll(async () => {
  database = await createTestDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'queue' })
  db = openPostgres({ url: database.url, schema: 'queue', log: testLog, poolSize: 8 })
  queue = createQueue(db)
})
beforeEach(() => db.query('delete from work_item'))
afterAll(async () => {
  await db.close()
  await database.drop()
})

const buildItem = (more: Partial<WorkItem> = {}): WorkItem => ({
  key: 'job:1',
  kind: 'encode',
  group: 'a',
  priority: 0,
  payload: {},
  ...more,
})
const send = (more: Partial<WorkItem> = {}) => db.transaction((tx) => queue.send(tx, buildItem(more)))
const never = new AbortController().signal
const lease = (holder = 'w1', leaseMs = 30_000) => queue.lease({ kinds: ['encode'], holder, leaseMs }, never)
const complete = (held: Lease) => db.transaction((tx) => queue.complete(tx, held))
const retry = (held: Lease, delayMs = 0) => db.transaction((tx) => queue.retry(tx, held, delayMs))
const release = (held: Lease) => db.transaction((tx) => queue.release(tx, held))
const rescue = (held: Lease) => db.transaction((tx) => queue.rescue(tx, held, 0))
/** Simulates an expired lease: the database clock is the only clock, so moving the row's time is enough. */
const expireLeases = () => db.query(`update work_item set lease_end = lease_end - interval '1 hour' where state = 'leased'`)
const readRows = async () => JSON.stringify(await db.query('select * from work_item order by item_id'))

async function requireLease(holder?: string): Promise<LeasedItem> {
  const item = await lease(holder)
  if (!item) throw new Error('nothing to lease')
  return item
}

describe('a stale holder', () => {
  test.each([
    ['rescued', async () => expect(await rescue((await queue.expired(9))[0] ?? { itemId: '0', fence: 0 })).toBe(true)],
    ['released', async (held: Lease) => expect(await release(held)).toBe(true)],
    ['released for a retry', async (held: Lease) => expect(await retry(held)).toBe(true)],
  ])('cannot change an item that was %s and then leased by another holder', async (_, endLease) => {
    await send()
    const stale = await requireLease('w1')
    await expireLeases()
    await endLease(stale)
    const fresh = await requireLease('w2')
    expect(fresh.itemId).toBe(stale.itemId)
    expect(fresh.fence).toBeGreaterThan(stale.fence)
    const before = await readRows()
    expect(await complete(stale)).toBe(false)
    expect(await queue.extend(stale)).toBe(false)
    expect(await retry(stale)).toBe(false)
    expect(await release(stale)).toBe(false)
    expect(await rescue(stale)).toBe(false)
    expect(await readRows()).toBe(before)
    expect(await queue.extend(fresh)).toBe(true)
    expect(await complete(fresh)).toBe(true)
  })
  test('cannot end an item that waits again, is done or is cancelled', async () => {
    await send()
    const first = await requireLease()
    await release(first)
    expect(await complete(first)).toBe(false)
    const second = await requireLease()
    expect(await complete(second)).toBe(true)
    expect(await complete(second)).toBe(false)
    expect(await queue.extend(second)).toBe(false)
    await db.transaction((tx) => queue.cancel(tx, 'job:1'))
    expect(await queue.extend(second)).toBe(false)
  })
  test('cannot change an item after a later lease if its fence exceeds 32 bits', async () => {
    await db.query(`select setval('work_fence', ${2 ** 53 - 3})`)
    await send()
    const stale = await requireLease('w1')
    expect(stale.fence).toBe(2 ** 53 - 2)
    await release(stale)
    const fresh = await requireLease('w2')
    expect(fresh.fence).toBe(2 ** 53 - 1)
    expect(await queue.extend(stale)).toBe(false)
    expect(await complete(fresh)).toBe(true)
    await db.query(`select setval('work_fence', 1)`)
  })
  test('is distinguished from the holder that completed the item and lost the response', async () => {
    await send()
    const stale = await requireLease()
    await release(stale)
    const fresh = await requireLease()
    await complete(fresh)
    expect(await db.transaction((tx) => queue.isCompletedBy(tx, fresh))).toBe(true)
    expect(await db.transaction((tx) => queue.isCompletedBy(tx, stale))).toBe(false)
  })
})

describe('the release of stale leases', () => {
  test('and a completion: exactly one of them succeeds, in any order', async () => {
    for (let round = 0; round < 60; round++) {
      await send()
      const held = await requireLease()
      await expireLeases()
      const both = round % 2 === 0 ? [complete(held), rescue(held)] : [rescue(held), complete(held)]
      const won = await Promise.all(both)
      expect(won.filter(Boolean)).toHaveLength(1)
      const completed = won[round % 2]
      const [{ state } = { state: '' }] = await db.query<{ state: string }>('select state from work_item')
      expect(state).toBe(completed ? 'done' : 'waiting')
      await db.query('delete from work_item')
    }
  })
  test('does not release an item that was completed after the candidates were read', async () => {
    await send()
    const held = await requireLease()
    await expireLeases()
    const [candidate] = await queue.expired(9)
    expect(candidate).toEqual(held)
    await complete(held)
    expect(await rescue(held)).toBe(false)
  })
  test('does not release a lease that was renewed after it appeared expired', async () => {
    await send()
    const held = await requireLease()
    await expireLeases()
    expect(await queue.expired(9)).toHaveLength(1)
    expect(await queue.extend(held)).toBe(true)
    expect(await rescue(held)).toBe(false)
    expect(await complete(held)).toBe(true)
  })
  test('is rolled back with its transaction', async () => {
    await send()
    const held = await requireLease()
    await expireLeases()
    const failed = db.transaction(async (tx) => {
      await queue.rescue(tx, held, 0)
      throw new Error('the rest of the transaction fails')
    })
    await expect(failed).rejects.toThrow('the rest')
    expect(await complete(held)).toBe(true)
  })
})

describe('the queue', () => {
  test('leases an item only to a holder with enough capacity for its weight', async () => {
    await send({ weight: 500, priority: 10 })
    const light = await send({ weight: 100 })
    const call = (capacity?: number) =>
      queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000, ...(capacity !== undefined && { capacity }) }, never)
    expect((await call(499))?.itemId).toBe(light)
    expect(await call(499)).toBeUndefined()
    expect(await call(500)).toBeDefined()
    await send({ weight: 1_000_000 })
    expect(await call()).toBeDefined()
  })
  test('a lease of one key gets only the items of that key, in the order in which they were sent', async () => {
    await send({ key: 'job:2', group: 'b', priority: 9 })
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.push(await send())
    const call = (holder: string) => queue.lease({ kinds: ['encode'], holder, leaseMs: 30_000, key: 'job:1' }, never)
    const first = await Promise.all(['w1', 'w2', 'w3'].map(call))
    const held = first.flatMap((item) => item ?? [])
    expect(held.map(({ itemId }) => itemId).sort()).toEqual(ids.slice(0, 3))
    const retriedItem = held.find(({ itemId }) => itemId === ids[1])
    if (retriedItem) await retry(retriedItem)
    const next = [await call('w1'), await call('w2'), await call('w3'), await call('w4'), await call('w5')]
    expect(next.map((item) => item?.itemId)).toEqual([ids[1], ids[3], ids[4], ids[5], undefined])
  })
  test('reserves the first item after it was skipped for a minute by holders without capacity for it', async () => {
    const call = async (capacity?: number) =>
      (await queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000, ...(capacity !== undefined && { capacity }) }, never))?.itemId
    const [heavy, light, next] = [await send({ weight: 500 }), await send({ weight: 100 }), await send({ weight: 100, priority: -1 })]
    const weightless = await send({ priority: -2 })
    expect(await call(400)).toBe(light)
    const readSkippedItems = () => db.query<{ item_id: string }>('select item_id from work_item where skipped_time is not null')
    expect(await readSkippedItems()).toEqual([{ item_id: heavy }])
    await db.query(`update work_item set skipped_time = skipped_time - interval '1 minute'`)
    expect(await call(400)).toBe(weightless)
    expect(await call(400)).toBeUndefined()
    expect(await call(500)).toBe(heavy)
    expect(await call(400)).toBe(next)
  })
  test('does not lease items below the minimum priority, or low-priority items while higher ones are due', async () => {
    const low = await send({ kind: 'sound', priority: -1 })
    const call = async (more: Partial<LeaseRequest>) =>
      (await queue.lease({ kinds: ['sound'], holder: 'w1', leaseMs: 30_000, ...more }, never))?.itemId
    const yieldTo = { priority: 0, kinds: ['sound', 'encode'] }
    expect(await call({ minPriority: 0 })).toBeUndefined()
    await send({ priority: 0 })
    expect(await call({ yieldTo })).toBeUndefined()
    const held = await requireLease()
    await retry(held, 60_000)
    expect(await call({ yieldTo })).toBe(low)
    const normal = await send({ kind: 'sound', priority: 0 })
    expect(await call({ minPriority: 0, yieldTo })).toBe(normal)
  })
  test('leases every item to exactly one of many concurrent callers', async () => {
    for (let i = 0; i < 20; i++) await send()
    const items = await Promise.all(Array.from({ length: 30 }, (_, i) => lease(`w${i}`)))
    const ids = items.filter((item) => item !== undefined).map((item) => item.itemId)
    expect(new Set(ids).size).toBe(20)
    expect(ids).toHaveLength(20)
  })
  test('leases the only item of a group after at most one more item of a group with many', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 1_000; i++) await queue.send(tx, buildItem({ key: `job:${i}`, group: 'many' }))
    })
    await complete(await requireLease())
    await send({ key: 'job:1000', group: 'one' })
    const groups = [(await requireLease('w1')).group, (await requireLease('w2')).group]
    expect(groups).toContain('one')
  })
  test('serves a group in turn despite its lower priorities, without delaying other groups', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 20; i++) await queue.send(tx, buildItem({ group: 'archive', priority: -90 }))
      for (let i = 0; i < 6; i++) await queue.send(tx, buildItem({ group: 'busy', priority: 10 }))
    })
    await send({ group: 'archive', priority: 10 })
    const first = [(await requireLease()).group, (await requireLease()).group]
    expect(first.sort()).toEqual(['archive', 'busy'])
    await send({ group: 'new', priority: 10 })
    await send({ group: 'new', priority: 10 })
    const next = [await requireLease(), await requireLease(), await requireLease(), await requireLease()].map(({ group }) => group)
    expect(next.sort()).toEqual(['busy', 'busy', 'new', 'new'])
  })
  test('shares by planned work, not by the number of items', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 10; i++) await queue.send(tx, buildItem({ key: 'job:long', group: 'long', cost: 40 }))
      for (let i = 0; i < 400; i++) await queue.send(tx, buildItem({ key: 'job:short', group: 'short', cost: 1 }))
    })
    const served = { long: 0, short: 0 }
    for (let i = 0; i < 200; i++) {
      const held = await requireLease()
      await complete(held)
      served[held.group as 'long' | 'short'] += held.group === 'long' ? 40 : 1
      expect(Math.abs(served.long - served.short)).toBeLessThanOrEqual(41)
    }
    expect(served.long).toBeGreaterThanOrEqual(160)
  })
  test('does not lease low-priority items under a constant stream of normal work until they are raised, and then leases them by age', async () => {
    const low = await send({ key: 'job:low', group: 'a', priority: -90 })
    const lower = await send({ key: 'job:low', group: 'a', priority: -90 })
    const addItemsAndCompleteNext = async () => {
      for (const group of ['a', 'b']) await send({ key: 'job:normal', group, priority: 10 })
      const held = await requireLease()
      await complete(held)
      return held.itemId
    }
    for (let round = 0; round < 30; round++) expect([low, lower]).not.toContain(await addItemsAndCompleteNext())
    // Each round adds one item to the queue.
    expect(await db.transaction((tx) => queue.raise(tx, 'job:low', { below: 0, by: 100 }))).toBe(2)
    const next = [
      await addItemsAndCompleteNext(),
      await addItemsAndCompleteNext(),
      await addItemsAndCompleteNext(),
      await addItemsAndCompleteNext(),
    ]
    expect(next.filter((id) => [low, lower].includes(id))).toEqual([low, lower])
    expect(await db.transaction((tx) => queue.raise(tx, 'job:low', { below: 0, by: 100 }))).toBe(0)
  })
  test('limits a group to its share when its items are raised', async () => {
    await db.transaction(async (tx) => {
      for (let i = 0; i < 20; i++) await queue.send(tx, buildItem({ key: 'job:low', group: 'a', priority: -90 }))
      for (const group of ['a', 'b']) for (let i = 0; i < 20; i++) await queue.send(tx, buildItem({ group, priority: 10 }))
      await queue.raise(tx, 'job:low', { below: 0, by: 100 })
    })
    const groups: string[] = []
    for (let i = 0; i < 30; i++) groups.push((await requireLease()).group)
    expect(Math.abs(groups.filter((group) => group === 'a').length - 15)).toBeLessThanOrEqual(1)
  })
  test('leases a higher priority first, and the oldest first within a group', async () => {
    const low = await send()
    const later = await send()
    const high = await send({ priority: 10 })
    expect([(await requireLease()).itemId, (await requireLease()).itemId, (await requireLease()).itemId]).toEqual([high, low, later])
  })
  test('does not lease an item before its delay has passed', async () => {
    await send()
    await retry(await requireLease(), 60_000)
    expect(await lease()).toBeUndefined()
    await db.query(`update work_item set due_time = now() - interval '1 second'`)
    expect(await lease()).toBeDefined()
  })
  test('leases a new item to a waiting caller at once', async () => {
    const measureDelay = async () => {
      const waiting = queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 30_000, waitMs: 20_000 }, never)
      const started = performance.now()
      await send()
      expect(await waiting).toBeDefined()
      return performance.now() - started
    }
    // Without a notification, the caller would find the item when it polls.
    expect(await shortestDurationMs(450, measureDelay)).toBeLessThan(450)
  })
  test('leases an item only after the transaction that added it has committed', async () => {
    await db.transaction(async (tx) => {
      await queue.send(tx, buildItem())
      expect(await lease()).toBeUndefined()
    })
    expect(await lease()).toBeDefined()
  })
  test('stops waiting when the caller disconnects', async () => {
    const caller = new AbortController()
    const waiting = queue.lease({ kinds: ['encode'], holder: 'w1', leaseMs: 1000, waitMs: 20_000 }, caller.signal)
    caller.abort(new Error('disconnected'))
    await expect(waiting).rejects.toThrow('disconnected')
  })
  test('returns the same item again to a repeated lease request whose response was lost', async () => {
    await send()
    await send()
    const call = (name: string, holder = 'w1') => queue.lease({ kinds: ['encode'], holder, leaseMs: 30_000, requestId: name }, never)
    const lost = await call('first')
    const before = await readRows()
    expect(await call('first')).toEqual(lost)
    expect(await readRows()).toBe(before)
    const second = await call('second')
    expect(second?.itemId).not.toBe(lost?.itemId)
    expect(await call('first', 'w2')).toBeUndefined()
    await release(lost ?? { itemId: '0', fence: 0 })
    expect((await call('first', 'w2'))?.itemId).toBe(lost?.itemId)
    expect(await call('first')).toBeUndefined()
    expect(await complete(second ?? { itemId: '0', fence: 0 })).toBe(true)
    expect(await call('second')).toBeUndefined()
  })
  test('counts waiting and leased items, and adds their costs', async () => {
    for (const cost of [300, 20, 1]) await send({ cost })
    await complete(await requireLease())
    await requireLease()
    expect(await queue.depth()).toEqual([{ kind: 'encode', waiting: 1, leased: 1, cost: 21 }])
  })
})

test('no statement contains a time of this machine', async () => {
  const source = await readFile(join(import.meta.dirname, 'create-queue.ts'), 'utf8')
  expect(source).not.toMatch(/\bDate\b/)
})

test('returns the items of each holder', async () => {
  await send()
  await send()
  const held = await requireLease('w1')
  await requireLease('w2')
  expect(await queue.findLeasedBy(['w1', 'w3'])).toEqual([held])
})

test('a lease reads few rows, however many items wait', async () => {
  await db.query(
    `insert into work_item (key, kind, group_key, priority, payload, turn)
     select 'job:' || n, 'encode', 'a', 0, '{}', n from generate_series(1, 20000) n`,
  )
  await db.query('analyze work_item')
  const session = openPostgres({ url: database.url, schema: 'queue', log: testLog, poolSize: 1 })
  const rowsRead = async () => {
    await session.query('select pg_stat_force_next_flush()')
    const [row] = await session.query<{ rows: string }>(
      `select seq_tup_read + idx_tup_fetch as rows from pg_stat_user_tables where schemaname = 'queue' and relname = 'work_item'`,
    )
    return Number(row?.rows)
  }
  try {
    const before = await rowsRead()
    for (const capacity of [undefined, 5])
      await createQueue(session).lease({ kinds: ['encode', 'audio'], holder: 'w1', leaseMs: 30_000, ...(capacity && { capacity }) }, never)
    const read = (await rowsRead()) - before
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(1_000)
  } finally {
    await session.close()
  }
})
