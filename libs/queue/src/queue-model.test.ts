import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { type FreshDatabase, freshDatabase, testLog } from '@vitascope/testing'
import fc from 'fast-check'
import { createQueue, type LeasedItem, type Queue } from './index.ts'

// What the queue must do, as a list in memory: the real one on PostgreSQL may never answer otherwise, whatever its holders do in whatever order.

interface ModelItem {
  itemId: string
  group: string
  priority: number
  /** When it would be done if each group had a server of its own: whose time is the least goes first. */
  turn: number
  state: 'waiting' | 'leased' | 'done'
  fence: number
  hasRunOut: boolean
}

interface Model {
  items: ModelItem[]
  /** Every lease that ever was: holders go on using the old ones too. */
  leases: LeasedItem[]
}

type Real = { db: Db; queue: Queue }
type Command = fc.AsyncCommand<Model, Real>

let database: FreshDatabase
let db: Db
const never = new AbortController().signal

beforeAll(async () => {
  database = await freshDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'queue' })
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

const add = (group: string, priority: number) =>
  command(`add(${group}, ${priority})`, async (model, { db, queue }) => {
    const itemId = await db.transaction((tx) => queue.send(tx, { key: 'k', kind: 'work', group, priority, payload: {} }))
    model.items.push({ itemId, group, priority, turn: turnOf(model, group, priority), state: 'waiting', fence: 0, hasRunOut: false })
  })

/** Each priority is a line of its own: a group goes behind what it has there, or where the line is now. */
function turnOf({ items }: Model, group: string, priority: number): number {
  const line = items.filter((item) => item.priority === priority && item.state !== 'done')
  const turns = (of: ModelItem[]) => of.map(({ turn }) => turn)
  const waiting = turns(line.filter(({ state }) => state === 'waiting'))
  const now = waiting.length > 0 ? Math.min(...waiting) : Math.max(0, ...turns(line))
  return Math.max(now, ...turns(line.filter((item) => item.group === group)).map((turn) => turn + 1))
}

const inLine = (a: ModelItem, b: ModelItem) => b.priority - a.priority || a.turn - b.turn || Number(a.itemId) - Number(b.itemId)

const lease = (holder: string) =>
  command(`lease(${holder})`, async (model, { queue }) => {
    const item = await queue.lease({ kinds: ['work'], holder, leaseMs: 30_000 }, never)
    const first = model.items.filter((i) => i.state === 'waiting').sort(inLine)[0]
    expect(item?.itemId).toBe(first?.itemId)
    if (!item || !first) return
    expect(model.leases.every((old) => old.fence < item.fence)).toBe(true)
    Object.assign(first, { state: 'leased', fence: item.fence, hasRunOut: false })
    model.leases.push(item)
  })

/** What a holder does with any lease that ever was, and what becomes of the item when the lease still stands. */
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
    const stands = item !== undefined && (!needsRunOut || item.hasRunOut)
    expect(await act(real, held)).toBe(stands)
    if (stands) Object.assign(item, then)
  })

const runOut = command('runOut', async (model, { db }) => {
  await db.query(`update work_item set lease_end = lease_end - interval '1 hour' where state = 'leased'`)
  for (const item of model.items) if (item.state === 'leased') item.hasRunOut = true
})

const cancel = command('cancel', async (model, { db, queue }) => {
  expect(await db.transaction((tx) => queue.cancel(tx, 'k'))).toBe(model.items.length)
  model.items = []
})

test('the queue does what its model does', async () => {
  const picks = fc.nat(30)
  const commands = fc.commands(
    [
      fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(1, 10)).map(([group, priority]) => add(group, priority)),
      fc.constantFrom('a', 'b', 'c').map(lease),
      fc.constantFrom('a', 'b', 'c').map(lease),
      picks.map((n) => withLease('beat', n, ({ queue }, held) => queue.beat(held), { hasRunOut: false })),
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

test('groups that have work of one priority are served in turn, whatever anybody has of a lower one', async () => {
  const sent = fc.record({ group: fc.constantFrom('a', 'b', 'c'), isLow: fc.boolean(), isLeased: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 40 }), async (sequence) => {
      const served = async (withLow: boolean) => {
        await db.query('delete from work_item')
        const queue = createQueue(db)
        const order: string[] = []
        const lease = async (least?: number) => {
          const item = await queue.lease({ kinds: ['work'], holder: 'w', leaseMs: 30_000, ...(least !== undefined && { least }) }, never)
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

/** Between two of a group no other group is served more than twice: once for its turn, once where turns are even. */
function expectInTurn(served: readonly string[], group: string): void {
  const places = served.flatMap((name, place) => (name === group ? [place] : []))
  for (const [n, place] of places.entries()) {
    const between = served.slice(n === 0 ? 0 : (places[n - 1] ?? 0) + 1, place)
    for (const other of new Set(between)) expect(between.filter((name) => name === other).length).toBeLessThanOrEqual(2)
  }
}
