// Faults: C11
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { createTestDatabase, type TestDatabase, testLog } from '@vitascope/testing'
import fc from 'fast-check'
import { createQueue, type LeasedItem, type Queue } from './index.ts'

// In-memory model of the queue. The real queue on PostgreSQL must return the same results for every sequence of
// operations.

interface ModelItem {
  itemId: string
  group: string
  priority: number
  /** Cost that its group was served before the item. The smallest turn is leased first. */
  turn: number
  cost: number
  state: 'waiting' | 'leased' | 'done'
  fence: number
  hasRunOut: boolean
}

interface Model {
  items: ModelItem[]
  /** All leases so far. Holders continue to use the old ones too. */
  leases: LeasedItem[]
}

type Real = { db: Db; queue: Queue }
type Command = fc.AsyncCommand<Model, Real>

let database: TestDatabase
let db: Db
const never = new AbortController().signal

beforeAll(async () => {
  database = await createTestDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'queue' })
  db = openPostgres({ url: database.url, schema: 'queue', log: testLog })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => name,
})

const add = (group: string, priority: number, cost: number) =>
  command(`add(${group}, ${priority}, ${cost})`, async (model, { db, queue }) => {
    const itemId = await db.transaction((tx) => queue.send(tx, { key: 'k', kind: 'work', group, priority, payload: {}, cost }))
    const turn = computeNextTurn(model, group, priority)
    model.items.push({ itemId, group, priority, turn, cost, state: 'waiting', fence: 0, hasRunOut: false })
  })

/**
 * Each priority is a separate queue. The turn of a new item is after those of its group, or the current turn of the
 * queue.
 */
function computeNextTurn({ items }: Model, group: string, priority: number): number {
  const line = items.filter((item) => item.priority === priority && item.state !== 'done')
  const turns = (of: ModelItem[]) => of.map(({ turn }) => turn)
  const waiting = turns(line.filter(({ state }) => state === 'waiting'))
  const now = waiting.length > 0 ? Math.min(...waiting) : Math.max(0, ...turns(line))
  return Math.max(now, ...line.filter((item) => item.group === group).map(({ turn, cost }) => turn + cost))
}

const compareByTurn = (a: ModelItem, b: ModelItem) => b.priority - a.priority || a.turn - b.turn || Number(a.itemId) - Number(b.itemId)

const lease = (holder: string) =>
  command(`lease(${holder})`, async (model, { queue }) => {
    const item = await queue.lease({ kinds: ['work'], holder, leaseMs: 30_000 }, never)
    const first = model.items.filter((i) => i.state === 'waiting').sort(compareByTurn)[0]
    expect(item?.itemId).toBe(first?.itemId)
    if (!item || !first) return
    expect(model.leases.every((old) => old.fence < item.fence)).toBe(true)
    Object.assign(first, { state: 'leased', fence: item.fence, hasRunOut: false })
    model.leases.push(item)
  })

/** An operation of a holder with any lease so far, and the resulting item if the lease is still valid. */
const withLease = (
  name: string,
  pick: number,
  act: (real: Real, held: LeasedItem) => Promise<boolean>,
  then: Partial<ModelItem>,
  needsRunOut = false,
) =>
  command(`${name}(${pick})`, async (model, real) => {
    const held = model.leases[pick % Math.max(1, model.leases.length)]
    if (!held) return
    const item = model.items.find((i) => i.itemId === held.itemId && i.state === 'leased' && i.fence === held.fence)
    const isHeld = item !== undefined && (!needsRunOut || item.hasRunOut)
    expect(await act(real, held)).toBe(isHeld)
    if (isHeld) Object.assign(item, then)
  })

const runOut = command('runOut', async (model, { db }) => {
  await db.query(`update work_item set lease_end = lease_end - interval '1 hour' where state = 'leased'`)
  for (const item of model.items) if (item.state === 'leased') item.hasRunOut = true
})

const cancel = command('cancel', async (model, { db, queue }) => {
  expect(await db.transaction((tx) => queue.cancel(tx, 'k'))).toBe(model.items.length)
  model.items = []
})

test('the queue returns the same results as the model for random operations', async () => {
  const picks = fc.nat(30)
  const commands = fc.commands(
    [
      fc
        .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(1, 10), fc.constantFrom(1, 1, 7, 100))
        .map(([group, priority, cost]) => add(group, priority, cost)),
      fc.constantFrom('a', 'b', 'c').map(lease),
      fc.constantFrom('a', 'b', 'c').map(lease),
      picks.map((n) => withLease('extend', n, ({ queue }, held) => queue.extend(held), { hasRunOut: false })),
      picks.map((n) =>
        withLease('complete', n, ({ db, queue }, held) => db.transaction((tx) => queue.complete(tx, held)), { state: 'done' }),
      ),
      picks.map((n) =>
        withLease('retry', n, ({ db, queue }, held) => db.transaction((tx) => queue.retry(tx, held, 0)), { state: 'waiting' }),
      ),
      picks.map((n) =>
        withLease('release', n, ({ db, queue }, held) => db.transaction((tx) => queue.release(tx, held)), { state: 'waiting' }),
      ),
      picks.map((n) =>
        withLease('rescue', n, ({ db, queue }, held) => db.transaction((tx) => queue.rescue(tx, held, 0)), { state: 'waiting' }, true),
      ),
      fc.constant(runOut),
      fc.constant(cancel),
    ],
    { maxCommands: 60, size: 'max' },
  )
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      await db.query('delete from work_item')
      await fc.asyncModelRun(() => ({ model: { items: [], leases: [] }, real: { db, queue: createQueue(db) } }), sequence)
    }),
    { numRuns: Number(process.env['VITASCOPE_MODEL_RUNS'] ?? 40) },
  )
})

test('groups with work of one priority are served in turn, whatever their work of lower priority', async () => {
  const sent = fc.record({ group: fc.constantFrom('a', 'b', 'c'), isLow: fc.boolean(), isLeased: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 40 }), async (sequence) => {
      const served = async (withLow: boolean) => {
        await db.query('delete from work_item')
        const queue = createQueue(db)
        const order: string[] = []
        const lease = async (minPriority?: number) => {
          const item = await queue.lease(
            { kinds: ['work'], holder: 'w', leaseMs: 30_000, ...(minPriority !== undefined && { minPriority }) },
            never,
          )
          if (item) order.push(item.group)
          return item
        }
        for (const { group, isLow, isLeased } of sequence) {
          if (withLow || !isLow)
            await db.transaction((tx) => queue.send(tx, { key: 'k', kind: 'work', group, priority: isLow ? -90 : 10, payload: {} }))
          if (isLeased) await lease(0)
        }
        const begin = order.length
        while (await lease(0));
        return { order, rest: order.slice(begin) }
      }
      const { order, rest } = await served(true)
      expect(order).toEqual((await served(false)).order)
      for (const group of ['a', 'b', 'c']) expectInTurn(rest, group)
    }),
    { numRuns: Number(process.env['VITASCOPE_MODEL_RUNS'] ?? 20) },
  )
})

/** Between two items of a group no other group is served more than twice: once for its turn, once for an equal turn. */
function expectInTurn(served: readonly string[], group: string): void {
  const places = served.flatMap((name, place) => (name === group ? [place] : []))
  for (const [n, place] of places.entries()) {
    const between = served.slice(n === 0 ? 0 : (places[n - 1] ?? 0) + 1, place)
    for (const other of new Set(between)) expect(between.filter((name) => name === other).length).toBeLessThanOrEqual(2)
  }
}
