import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, openPostgres } from '@vitascope/postgres'
import { type FreshDatabase, freshDatabase, testLog } from '@vitascope/testing'
import fc from 'fast-check'
import { createQueue, type LeasedItem, type Queue } from './index.ts'

// What the queue must do, as a list in memory: the real one on PostgreSQL may never answer otherwise, whatever its holders do in whatever order.

interface ModelItem {
  itemId: string
  priority: number
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

const add = (priority: number) =>
  command(`add(${priority})`, async (model, { db, queue }) => {
    const itemId = await db.transaction((tx) => queue.send(tx, { key: 'k', kind: 'work', group: 'g', priority, payload: {} }))
    model.items.push({ itemId, priority, state: 'waiting', fence: 0, hasRunOut: false })
  })

const lease = (holder: string) =>
  command(`lease(${holder})`, async (model, { queue }) => {
    const item = await queue.lease({ kinds: ['work'], holder, leaseMs: 30_000 }, never)
    const first = model.items.filter((i) => i.state === 'waiting').sort((a, b) => b.priority - a.priority)[0]
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
      fc.constantFrom(1, 10).map(add),
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
    { maxCommands: 60 },
  )
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      await db.query('delete from work_item')
      await fc.asyncModelRun(() => ({ model: { items: [], leases: [] }, real: { db, queue: createQueue(db) } }), sequence)
    }),
    { numRuns: Number(process.env['VITASCOPE_MODEL_RUNS'] ?? 40) },
  )
})
