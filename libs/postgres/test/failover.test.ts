// Faults: C17
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { createLogger, createMetrics, type Logger, type Metrics } from '@vitascope/telemetry'
import { createTestDatabase, type PostgresPair, recordFigure, startFaultProxy, startPostgresPair, waitFor } from '@vitascope/testing'
import pg from 'pg'
import { type Db, findOpenFailover, listFailovers, migrate, openPostgres, settleFailover, watchFailovers } from '../src/index.ts'

const silent = createLogger({ service: 'test', level: 'silent' })
const cleanups: (() => Promise<unknown>)[] = []
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await writeFile(
    join(folder, '0001-thing.sql'),
    `create table thing (thing_id bigint generated always as identity primary key, name text);
     create sequence small as int; create sequence dense;`,
  )
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

interface Line {
  msg: string
  lost_bytes?: unknown
}

/**
 * Returns connections to a service's database with its ordinary role, and the log lines and metrics
 * of the watch.
 */
function connectWithLog(url: string) {
  const lines: Line[] = []
  // Only warnings are recorded.
  const log = { warn: (fields: object, msg: string) => void lines.push({ ...fields, msg }) } as unknown as Logger
  const metrics = createMetrics('thing')
  const failovers = watchFailovers({ log, metrics, dense: ['dense'] })
  const dbs = [1, 2].map(() => openPostgres({ url, schema: 'thing', log: silent, failovers, poolSize: 2 }))
  const [db, other] = dbs as [Db, Db]
  let closed: Promise<unknown> | undefined
  const close = () => (closed ??= Promise.all([db.close(), other.close()]))
  cleanups.push(close)
  return { db, other, close, lines, count: () => readFailovers(metrics) }
}

async function readFailovers(metrics: Metrics): Promise<number> {
  return Number(/^vitascope_database_failovers_total\S* (\d+)$/m.exec(await metrics.text())?.[1])
}

async function asSuperuser(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

const add = async (db: Db, name: string) =>
  Number((await db.query<{ thing_id: string }>('insert into thing (name) values ($1) returning thing_id', [name]))[0]?.thing_id)

/** Creates the role and the schema of a service. Returns the database URL of the role. */
async function createServiceSchema(pair: PostgresPair): Promise<string> {
  await asSuperuser(
    pair.url,
    `create role thing_role login`,
    'create schema thing authorization thing_role',
    'grant create on database postgres to thing_role',
  )
  const url = pair.url.replace('postgres@', 'thing_role@')
  await migrate({ url, schema: 'thing', folder, log: silent })
  return url
}

test('a promoted standby is detected once, before the first statement; lost bytes are reported and ids skip ahead', async () => {
  const pair = await startPostgresPair()
  cleanups.push(pair.stop)
  const url = await createServiceSchema(pair)
  const { db, other, lines, count } = connectWithLog(url)
  expect(await add(db, 'kept')).toBe(1)
  expect(await findOpenFailover(db.query)).toBeUndefined()
  await pair.cut()
  for (let n = 0; n < 100; n++) await add(db, 'lost')
  await db.query(`select nextval('small'), nextval('dense')`)
  expect(await db.ping()).toBe(true)
  await pair.failOver()

  const [one, two] = await Promise.all([db, other].map((each) => waitFor(() => add(each, 'after').catch(() => 0), { timeout: 20_000 })))
  expect(Math.min(Number(one), Number(two))).toBeGreaterThan(1_000_000)
  const [sequences] = await db.query<{ small: string; dense: string }>(`select nextval('small') as small, nextval('dense') as dense`)
  expect(Number(sequences?.small)).toBeGreaterThan(1_000_000)
  expect(Number(sequences?.dense)).toBeLessThan(100)
  expect(await db.query(`select name from thing where name <> 'after'`)).toEqual([{ name: 'kept' }])
  expect(lines).toHaveLength(1)
  expect(lines[0]?.msg).toContain('the database lost transactions')
  expect(Number(lines[0]?.lost_bytes)).toBeGreaterThan(100 * 50)
  recordFigure('C17', `a failover that lost ${lines[0]?.lost_bytes} bytes is reported once`)
  expect(await count()).toBe(1)

  const open = await findOpenFailover(db.query)
  expect(open?.seconds).toBeLessThan(60)
  if (open) await settleFailover(db.query, open)
  expect(await findOpenFailover(db.query)).toBeUndefined()
  expect(await db.ping()).toBe(true)
  expect(lines).toHaveLength(1)

  // A process that starts later finds the failover recorded.
  const later = connectWithLog(url)
  expect(await later.db.ping()).toBe(true)
  expect([later.lines, await later.count()]).toEqual([[], 0])
}, 60_000)

test('a process that starts after a failover detects it from the database itself', async () => {
  const pair = await startPostgresPair()
  cleanups.push(pair.stop)
  const url = await createServiceSchema(pair)
  const before = connectWithLog(url)
  await add(before.db, 'kept')
  await pair.cut()
  await before.close()
  await pair.failOver()
  const after = connectWithLog(url)
  expect(await waitFor(() => after.db.ping(), { timeout: 20_000 })).toBe(true)
  expect(after.lines).toMatchObject([{ lost_bytes: 'unknown' }])
  expect(await after.count()).toBe(1)
}, 60_000)

test('a restored older disk is detected by a process that saw later writes', async () => {
  const base = await mkdtemp(join(tmpdir(), 'vitascope-restored-'))
  cleanups.push(() => rm(base, { recursive: true, force: true, maxRetries: 5 }))
  const [dir, copy] = [join(base, 'data'), join(base, 'copy')]
  await initDatabase(dir, { durable: false })
  let server = await startPostgres({ dir })
  cleanups.push(() => server.stop({ immediate: true }))
  const proxy = await startFaultProxy(`127.0.0.1:${server.port}`)
  cleanups.push(proxy.close)
  const url = `postgres://postgres@${proxy.address}/postgres`
  await migrate({ url, schema: 'thing', folder, log: silent })
  const { db, lines, count } = connectWithLog(url)
  await add(db, 'kept')
  await server.stop()
  await cp(dir, copy, { recursive: true, preserveTimestamps: true })
  const start = async (from: string) => {
    server = await startPostgres({ dir: from })
    proxy.target = `127.0.0.1:${server.port}`
    proxy.drop()
    await waitFor(() => db.ping(), { timeout: 20_000 })
  }
  await start(dir)
  for (let n = 0; n < 100; n++) await add(db, 'lost')
  await db.ping()
  // A restart is not a failover.
  await server.stop({ immediate: true })
  await start(dir)
  expect([lines, await count()]).toEqual([[], 0])
  await server.stop()
  await start(copy)
  expect(await count()).toBe(1)
  expect(lines).toMatchObject([{ timeline: '00000001', other_system: false }])
  expect(Number(lines[0]?.lost_bytes)).toBeGreaterThan(100 * 50)
  expect(await add(db, 'after')).toBeGreaterThan(1_000_000)
}, 60_000)

test('results that arrive out of order are not reported as a failover', async () => {
  const database = await createTestDatabase({ migrations: folder, schema: 'thing' })
  cleanups.push(database.drop)
  const url = new URL(database.url)
  url.searchParams.set('options', '-csearch_path=thing')
  const [early, late] = [new pg.Client(url.href), new pg.Client(url.href)]
  await Promise.all([early.connect(), late.connect()])
  cleanups.push(() => Promise.all([early.end(), late.end()]))
  const lines: string[] = []
  const log = { warn: (_: object, msg: string) => void lines.push(msg) } as unknown as Logger
  const metrics = createMetrics('thing')
  const failovers = watchFailovers({ log, metrics })
  await failovers.check(late)

  let endDelay: () => void = () => {}
  const delay = new Promise<void>((resolve) => {
    endDelay = resolve
  })
  const query = early.query.bind(early) as (...args: [string, unknown[]?]) => Promise<unknown>
  let requested: Promise<unknown> | undefined
  const slow = {
    query: (...args: [string, unknown[]?]) => {
      requested = query(...args)
      return requested.then((response) => delay.then(() => response))
    },
  } as unknown as pg.ClientBase
  const slowCheck = failovers.check(slow)
  await requested
  await late.query('set synchronous_commit = on')
  await late.query(`insert into thing (name) select 'more' from generate_series(1, 100)`)
  await failovers.check(late)
  endDelay()
  await slowCheck
  await failovers.check(late)
  expect([lines, await readFailovers(metrics)]).toEqual([[], 0])
}, 20_000)

test('without permission for the functions, a warning is logged once and statements work', async () => {
  const database = await createTestDatabase({ migrations: folder, schema: 'thing' })
  cleanups.push(database.drop)
  const url = new URL(database.url)
  const role = `unprivileged_${process.pid}`
  await asSuperuser(
    database.url,
    `create role ${role} login password 'x'`,
    `grant usage on schema thing to ${role}`,
    `grant all on all tables in schema thing to ${role}`,
    `revoke execute on function pg_control_system() from public`,
  )
  cleanups.push(() => asSuperuser(database.url, `drop owned by ${role}`, `drop role ${role}`))
  url.username = role
  url.password = 'x'
  const { db, other, lines } = connectWithLog(url.href)
  expect([await db.ping(), await other.ping(), await add(db, 'one')]).toEqual([true, true, 1])
  expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('cannot be detected')])
}, 20_000)

test('lists what changed with each failover, newest first', async () => {
  const database = await createTestDatabase({ migrations: folder, schema: 'thing' })
  cleanups.push(() => database.drop())
  const db = openPostgres({ url: database.url, schema: 'thing', log: silent })
  cleanups.push(() => db.close())
  const add = (system: string, timeline: string, settleTime: string | null) =>
    db.query('insert into failover (system_id, timeline, settle_time) values ($1, $2, $3)', [system, timeline, settleTime])
  expect(await listFailovers(db.query, 10)).toEqual([])
  await add('1', '00000001', '2030-01-01')
  expect(await listFailovers(db.query, 10)).toEqual([])
  await add('1', '00000002', '2030-01-02')
  await add('2', '00000001', null)
  await add('2', '00000001', null)
  const all = await listFailovers(db.query, 10)
  expect(all.map(({ cause, repairTime }) => [cause, repairTime?.toISOString().slice(0, 10)])).toEqual([
    ['older_data', undefined],
    ['other_database', undefined],
    ['new_timeline', '2030-01-02'],
  ])
  expect(await listFailovers(db.query, 1)).toEqual([all[0]])
})
