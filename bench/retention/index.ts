import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { commonRetainedTables, type Db, deleteInBatches, migrate, openPostgres, type RetainedTable } from '@vitascope/postgres'
import { testLog } from '@vitascope/testing'
import { analyticsRetention } from '../../apps/analytics/src/retention/retention.ts'
import { auditRetention } from '../../apps/auth/src/audit/audit-store.ts'
import { createEventStore, EVENTS_PER_SWEEP } from '../../apps/catalogue/src/notification/event/event-store.ts'
import { deliveryRetention } from '../../apps/catalogue/src/notification/webhook/delivery-retention.ts'
import { endOnSignal } from '../end-on-signal.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { RETENTION_DAYS, SCHEMAS, type Schema, seed } from './seed.ts'

const GOAL_MS = 1_000
const SETTINGS = [
  'shared_buffers = 1GB',
  'max_wal_size = 2GB',
  'wal_level = minimal',
  'max_wal_senders = 0',
  'maintenance_work_mem = 256MB',
]

/**
 * Fills the growing tables with rows, by default 50 million, of which a part has expired. Then runs the
 * retention of the services during concurrent writes. Prints the longest statement per table.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({ args, options: { millions: { type: 'string', default: '50' } } })
  const millions = Number(values.millions)
  if (!(millions > 0)) throw new Error('--millions must be a number above 0')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-retention-'))
  const dir = join(folder, 'postgres')
  await initDatabase(dir, { durable: false })
  await appendFile(join(dir, 'postgresql.conf'), `${SETTINGS.join('\n')}\n`)
  const server = await startPostgres({ dir, durable: false })
  const open = (schema: Schema) => openPostgres({ url: server.url, schema, log: testLog })
  const dbs = { analytics: open('analytics'), auth: open('auth'), catalogue: open('catalogue') }
  const writing = new AbortController()
  const end = async () => {
    writing.abort()
    await Promise.all(Object.values(dbs).map((db) => db.close()))
    await server.stop({ immediate: true })
    await rm(folder, { recursive: true, force: true })
  }
  endOnSignal(end)
  try {
    for (const schema of SCHEMAS) {
      const migrations = fileURLToPath(new URL(`../../apps/${schema}/migrations`, import.meta.url))
      await migrate({ url: server.url, schema, folder: migrations, log: testLog })
    }
    await seed(server.url, millions * 1e6, (line) => console.log(line))
    await retain(dbs, writing, report)
  } finally {
    await end()
  }
}

async function retain(dbs: Readonly<Record<Schema, Db>>, writing: AbortController, report: ReportFigure): Promise<void> {
  const times = new Map<string, number>()
  let running = ''
  const timed = (schema: Schema) => withTimes(dbs[schema], (ms) => times.set(running, Math.max(times.get(running) ?? 0, ms)))
  const [analytics, auth, catalogue] = [timed('analytics'), timed('auth'), timed('catalogue')]
  const tables: RetainedTable[] = [
    ...analyticsRetention(analytics, RETENTION_DAYS.analytics),
    ...auditRetention(auth, RETENTION_DAYS.audit),
    ...commonRetainedTables(auth),
    deliveryRetention(catalogue),
    { table: 'event of catalogue', remove: createEventStore(catalogue).sweep, limit: EVENTS_PER_SWEEP },
  ]
  const { signal } = new AbortController()
  const writers = [
    writeAudit(dbs.auth, writing.signal),
    writeEvents(dbs.catalogue, writing.signal),
    writeViewers(dbs.analytics, writing.signal),
  ]
  let removedRows = 0
  for (const { table, remove, limit } of tables) {
    running = table
    const start = performance.now()
    const { removed, isComplete } = await deleteInBatches(remove, { ...(limit && { limit }), budgetMs: 3_600_000, signal })
    const longest = times.get(table) ?? 0
    if (!isComplete) throw new Error(`expired rows of ${table} remain`)
    removedRows += removed
    const seconds = ((performance.now() - start) / 1_000).toFixed(1)
    console.log(
      `${table.padEnd(20)} ${String(removed).padStart(9)} rows or partitions in ${seconds} s, longest statement ${longest.toFixed(0)} ms`,
    )
  }
  if (removedRows === 0) throw new Error('no expired rows were removed')
  writing.abort()
  const goal = { atMost: GOAL_MS }
  report({
    row: 'statement',
    title: 'longest statement of the retention',
    unit: 'ms',
    value: singleValue(Math.max(...times.values())),
    goal,
  })
  for (const { name, longest } of await Promise.all(writers))
    report({ row: name.replaceAll(' ', '-'), title: `slowest concurrent write of ${name}`, unit: 'ms', value: singleValue(longest), goal })
}

/**
 * Returns the same database; `note` receives the milliseconds of each statement, including those in
 * transactions.
 */
function withTimes(db: Db, note: (ms: number) => void): Db {
  const timed = async <T>(run: () => Promise<T>) => {
    const start = performance.now()
    try {
      return await run()
    } finally {
      note(performance.now() - start)
    }
  }
  return {
    ...db,
    query: (text, values) => timed(() => db.query(text, values)),
    transaction: (change, signal) =>
      db.transaction((tx) => change({ ...tx, query: (text, values) => timed(() => tx.query(text, values)) }), signal),
  }
}

/** Writes about ten times per second until the signal aborts. Returns the time of the longest write in milliseconds. */
async function write(name: string, one: () => Promise<unknown>, signal: AbortSignal): Promise<{ name: string; longest: number }> {
  let longest = 0
  while (!signal.aborted) {
    const start = performance.now()
    try {
      await one()
    } catch (error) {
      if (signal.aborted) break
      throw error
    }
    longest = Math.max(longest, performance.now() - start)
    await delay(100)
  }
  return { name, longest }
}

function writeAudit(db: Db, signal: AbortSignal) {
  const insertRow = () =>
    db.query(
      `insert into audit_entry select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 19))::uuid,
         1, 1, '', 'folder::post', '/folder', 'r', '127.0.0.1'`,
    )
  return write('audit entries', insertRow, signal)
}

function writeEvents(db: Db, signal: AbortSignal) {
  const insertRow = () =>
    db.query(`insert into event (type, organisation_id, object_key, data) values ('video.created', 1, 'media:' || random(), '{}')`)
  return write('events and deliveries', insertRow, signal)
}

function writeViewers(db: Db, signal: AbortSignal) {
  const insertRow = () =>
    db.query(`insert into viewer values (current_date, 1, 1, substr(decode(md5(random()::text), 'hex'), 1, 8)) on conflict do nothing`)
  return write('viewers', insertRow, signal)
}
