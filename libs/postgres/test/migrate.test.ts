// Faults: C26
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createTestDatabase, testLog as log, waitFor } from '@vitascope/testing'
import { type Db, migrate, openPostgres } from '../src/index.ts'

const schema = 'thing'
const first = 'create table thing (thing_id bigint generated always as identity primary key, name text unique);'
const folders: string[] = []
let db: Db
let url: string
let folder: string
let drop: () => Promise<void>

beforeAll(async () => {
  folder = await createFolder()
  const fresh = await createTestDatabase({ migrations: folder, schema })
  url = fresh.url
  drop = fresh.drop
  db = openPostgres({ url, schema, log })
})
afterAll(async () => {
  await db.close()
  await drop()
  for (const created of folders) await rm(created, { recursive: true })
})

/** Returns a folder with the migrations of a version: the first one, and the newest. */
async function createFolder(newest?: string): Promise<string> {
  const created = await mkdtemp(join(tmpdir(), 'migrations-'))
  folders.push(created)
  await writeFile(join(created, '0001-thing.sql'), first)
  if (newest !== undefined) await writeFile(join(created, '0002-newest.sql'), newest)
  return created
}

/** Starts a transaction that reads the table and stays open. Returns a function that ends it. */
function holdLock() {
  const end = Promise.withResolvers<void>()
  const holding = db.transaction(async (tx) => {
    await tx.query('select name from thing')
    await end.promise
  })
  return async () => {
    end.resolve()
    await holding
  }
}

test('concurrent and repeated migrations apply each file once', async () => {
  await Promise.all([migrate({ url, schema, folder, log }), migrate({ url, schema, folder, log })])
  expect(await db.query('select name from thing.migration')).toHaveLength(1)
})

test('a migration retries while a table is locked without blocking reads, and completes after the release', async () => {
  const next = await createFolder('alter table thing add column colour text;')
  const other = openPostgres({ url, schema, log })
  const releaseLock = holdLock()
  let isOver = false
  const migrated = migrate({ url, schema, folder: next, log }).then(() => (isOver = true))
  try {
    const waiting = "select 1 from pg_locks where not granted and relation = 'thing.thing'::regclass"
    // Reads queue behind the migration for at most 1 s, below the timeout of a service's
    // statements.
    for (let read = 0; read < 2; read++) {
      await waitFor(async () => (await other.query(waiting)).length > 0, { timeout: 30_000, describe: 'the migration to wait' })
      await other.query('select count(*) from thing')
    }
    expect(isOver).toBe(false)
  } finally {
    await releaseLock()
    await migrated
    await other.close()
  }
  expect(await db.query('select colour from thing')).toEqual([])
  await db.query('alter table thing drop column colour')
  await db.query("delete from thing.migration where name = '0002-newest'")
})

test('a migration fails if a table stays locked, and changes nothing', async () => {
  const next = await createFolder('create table other (name text); alter table thing add column colour text;')
  const releaseLock = holdLock()
  try {
    await expect(migrate({ url, schema, folder: next, log, timeoutMs: 1 })).rejects.toThrow(
      'other sessions still lock the tables of the migration',
    )
    expect(await db.query("select to_regclass('thing.other') as other")).toEqual([{ other: null }])
    expect(await db.query('select name from thing.migration')).toHaveLength(1)
  } finally {
    await releaseLock()
  }
})
