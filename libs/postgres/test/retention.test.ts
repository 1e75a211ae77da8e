import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLogger, createMetrics } from '@vitascope/telemetry'
import { createTestDatabase, type TestDatabase, waitFor } from '@vitascope/testing'
import { commonRetainedTables, createRetention, type Db, deleteInBatches, openPostgres, type RetainedTable } from '../src/index.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const { signal } = new AbortController()
let database: TestDatabase
let db: Db
beforeAll(async () => {
  database = await createTestDatabase({ migrations: join(import.meta.dirname, '../../queue/migrations'), schema: 'retention' })
  db = openPostgres({ url: database.url, schema: 'retention', log })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})
beforeEach(() => db.query('truncate idempotency, outbox'))

const addKeys = (count: number, age: string) =>
  db.query(
    `insert into idempotency (key, fingerprint, response, create_time) select $2 || n, '', '', now() - $2::interval from generate_series(1, $1::int) n`,
    [count, age],
  )
const keys = async () => (await db.query<{ keys: number }>('select count(*)::int as keys from idempotency'))[0]?.keys
const overdue = async (metrics: ReturnType<typeof createMetrics>, table: string) =>
  Number(new RegExp(`vitascope_retention_overdue_seconds{.*table="${table}".*} (.+)`).exec(await metrics.text())?.[1])

describe('deletion in batches', () => {
  test('removes all old rows, at most its limit in each statement', async () => {
    await addKeys(2_500, '25 hours')
    await addKeys(10, '23 hours')
    const [{ remove } = { remove: async () => 0 }] = commonRetainedTables(db)
    const counts: number[] = []
    const countAndRemove: RetainedTable['remove'] = async (limit) => {
      const count = await remove(limit, signal)
      counts.push(count)
      return count
    }
    expect(await deleteInBatches(countAndRemove, { limit: 1_000, signal })).toEqual({ removed: 2_500, isComplete: true })
    expect(counts).toEqual([1_000, 1_000, 500])
    expect(await keys()).toBe(10)
  })
  test('ends when its time budget is used up, and reports that rows are left', async () => {
    expect(await deleteInBatches(async (limit) => limit, { limit: 7, budgetMs: 0, signal })).toEqual({ removed: 7, isComplete: false })
  })
  test('halves the batch size while statements are slow', async () => {
    const limits: number[] = []
    const slow: RetainedTable['remove'] = async (limit) => {
      limits.push(limit)
      await db.query('select pg_sleep(0.3)')
      return limits.length < 4 ? limit : 0
    }
    await deleteInBatches(slow, { limit: 300, signal })
    expect(limits).toEqual([300, 150, 75, 50])
  })
})

describe('retention', () => {
  test('continues with the next table after a failure, and reports the seconds until that table is complete again', async () => {
    const metrics = createMetrics('test')
    let isBroken = true
    const broken = async () => {
      if (isBroken) throw new Error('a statement that takes too long')
      return 0
    }
    await addKeys(5, '25 hours')
    const round = createRetention({ tables: [{ table: 'broken', remove: broken }, ...commonRetainedTables(db)], metrics, log })
    expect(await overdue(metrics, 'broken')).toBe(0)
    await round(signal)
    expect(await keys()).toBe(0)
    expect(await overdue(metrics, 'idempotency')).toBe(0)
    const first = await overdue(metrics, 'broken')
    expect(first).toBeGreaterThan(0)
    await waitFor(async () => (await overdue(metrics, 'broken')) > first, { describe: 'the metric to grow' })
    isBroken = false
    await round(signal)
    expect(await overdue(metrics, 'broken')).toBe(0)
  })
  test('reports a table as overdue if it was not completed in its time budget', async () => {
    const metrics = createMetrics('test')
    await createRetention({ tables: [{ table: 'large', remove: async (limit) => limit }], metrics, log, budgetMs: 1 })(signal)
    expect(await overdue(metrics, 'large')).toBeGreaterThan(0)
  })
  test('removes messages that were given up more than 30 days ago, and no waiting ones', async () => {
    await db.query(
      `insert into outbox (topic, key, payload, create_time, dead_time) values ('a', 'dead', '{}', now() - interval '40 days', now() - interval '31 days'),
         ('a', 'late', '{}', now() - interval '40 days', now() - interval '29 days'), ('a', 'waits', '{}', now() - interval '40 days', null)`,
    )
    await createRetention({ tables: commonRetainedTables(db), metrics: createMetrics('test'), log })(signal)
    expect(await db.query('select key from outbox order by key')).toEqual([{ key: 'late' }, { key: 'waits' }])
  })
})
