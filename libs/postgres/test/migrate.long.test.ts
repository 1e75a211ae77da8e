// Faults: C26
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, testLog as log, recordFigure } from '@vitascope/testing'
import { type Db, migrate, openPostgres } from '../src/index.ts'

const schema = 'shelf'
const ROWS = 1_000_000
const STATEMENTS_PER_SECOND = 50
/** A migration waits at most 1 s for a lock, and statements behind it wait as long. */
const MAX_WAIT_SECONDS = 1.5
const REPORT_MS = 5_000

const before =
  'create table book (book_id bigint generated always as identity primary key, title text not null, read_count int not null default 0);'
/** One migration of each kind that is allowed while services run (tools/migration-rules.ts). */
const newest: Record<string, string> = {
  '0002-pages.sql': `alter table book add column colour text, add column pages int not null default 0;
    alter table book add constraint book_pages check (pages >= 0) not valid;
    create table chapter (chapter_id bigint generated always as identity primary key, book_id bigint not null references book, title text);`,
  '0003-pages-validated.sql': 'alter table book validate constraint book_pages;',
}

let db: Db
let url: string
let drop: () => Promise<void>
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await writeFile(join(folder, '0001-book.sql'), before)
  const fresh = await createTestDatabase({ migrations: folder, schema })
  url = fresh.url
  drop = fresh.drop
  db = openPostgres({ url, schema, log, statementTimeoutMs: 600_000 })
  await db.query(`insert into book (title) select 'book ' || n from generate_series(1, ${ROWS}) n`)
}, 300_000)
afterAll(async () => {
  await db.close()
  await drop()
  await rm(folder, { recursive: true })
})

interface Load {
  done: number
  faults: string[]
  slowestMs: number
}

/**
 * Starts to send statements at a constant rate, even if earlier ones have not returned. `end` stops
 * it.
 */
function startLoad(statement: () => string) {
  const service = openPostgres({ url, schema, log, poolSize: 10 })
  const load: Load = { done: 0, faults: [], slowestMs: 0 }
  const statements: Promise<void>[] = []
  let isOver = false
  const runOnce = async () => {
    const started = performance.now()
    try {
      await service.query(statement())
      load.done++
    } catch (error) {
      load.faults.push(String(error))
    }
    load.slowestMs = Math.max(load.slowestMs, performance.now() - started)
  }
  const running = (async () => {
    const started = performance.now()
    for (let nth = 1; !isOver; nth++) {
      statements.push(runOnce())
      await delay(Math.max(0, started + (nth * 1_000) / STATEMENTS_PER_SECOND - performance.now()))
    }
    await Promise.all(statements)
    await service.close()
  })()
  return {
    async end(): Promise<Load> {
      isOver = true
      await running
      return load
    },
  }
}

/**
 * Starts to measure the longest wait for a lock, as reported by PostgreSQL. Returns a function that
 * stops and returns it in seconds.
 */
function measureWaits() {
  let longest = 0
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      const [row] = await db.query<{ seconds: number }>(
        'select coalesce(max(extract(epoch from clock_timestamp() - waitstart)), 0)::float8 as seconds from pg_locks where not granted',
      )
      longest = Math.max(longest, row?.seconds ?? 0)
      await delay(20)
    }
  })()
  return async () => {
    isOver = true
    await running
    return longest
  }
}

test(`a table of a million rows is migrated under load: no statement fails, or waits for a lock for more than ${MAX_WAIT_SECONDS} s`, async () => {
  const id = () => 1 + Math.floor(Math.random() * ROWS)
  const loadBefore = startLoad(() => `update book set read_count = read_count + 1 where book_id = ${id()}`)
  const stopMeasuring = measureWaits()
  const report = db.transaction(async (tx) => {
    await tx.query('select count(*) from book')
    await delay(REPORT_MS)
  })
  for (const [name, sql] of Object.entries(newest)) await writeFile(join(folder, name), sql)
  const started = performance.now()
  await migrate({ url, schema, folder, log })
  const seconds = (performance.now() - started) / 1_000
  await report
  const loadAfter = startLoad(
    () => `with inserted as (insert into book (title, pages) values ('new', 9) returning book_id)
    update book set colour = 'red' where book_id = ${id()}`,
  )
  await delay(5_000)
  await migrate({ url, schema, folder, log })
  const [first, second, longest] = [await loadBefore.end(), await loadAfter.end(), await stopMeasuring()]
  process.stderr.write(
    `migrated in ${seconds.toFixed(1)} s; longest wait for a lock ${longest.toFixed(2)} s; ${JSON.stringify([first, second])}\n`,
  )
  recordFigure('C26', `longest wait for a lock ${longest.toFixed(2)} s, ${first.faults.length + second.faults.length} failed statements`)
  expect([first.faults, second.faults]).toEqual([[], []])
  // The long report delayed the migration.
  expect(seconds).toBeGreaterThan((REPORT_MS / 1_000) * 0.8)
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(MAX_WAIT_SECONDS)
  const applied = await db.query<{ name: string }>('select name from migration order by id')
  expect(applied.map(({ name }) => name)).toEqual(['0001-book', ...Object.keys(newest).map((name) => name.replace('.sql', ''))])
  expect(await db.query('select count(*)::int as rows, count(*) filter (where pages = 9)::int as new from book')).toEqual([
    { rows: ROWS + second.done, new: second.done },
  ])
}, 600_000)
