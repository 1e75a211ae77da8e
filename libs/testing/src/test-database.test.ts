import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { openPostgres } from '@vitascope/postgres'
import { createTestDatabase, type TestDatabase } from './test-database.ts'
import { testLog } from './test-log.ts'

const schema = 'shelf'
let folder: string
const open: TestDatabase[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-migrations-'))
  writeFileSync(join(folder, '0001-book.sql'), 'create table book (title text primary key);\n')
})
afterEach(() => rmSync(folder, { recursive: true }))
afterAll(async () => {
  for (const database of open) await database.drop()
})

async function createDatabase() {
  const database = await createTestDatabase({ migrations: folder, schema })
  open.push(database)
  return { ...database, db: openPostgres({ url: database.url, schema, log: testLog }) }
}

test('is migrated, empty, and isolated from other tests', async () => {
  const [one, two] = await Promise.all([createDatabase(), createDatabase()])
  await one.db.query('insert into book values ($1)', ['Emma'])
  expect(await one.db.query('select title from book')).toEqual([{ title: 'Emma' }])
  expect(await two.db.query('select title from book')).toEqual([])
  await one.db.close()
  await two.db.close()
})

test('contains a migration that was added later', async () => {
  const before = await createDatabase()
  writeFileSync(join(folder, '0002-author.sql'), 'create table author (name text primary key);\n')
  const after = await createDatabase()
  expect(await after.db.query('select name from author')).toEqual([])
  await expect(before.db.query('select name from author')).rejects.toThrow('"author" does not exist')
  await before.db.close()
  await after.db.close()
})

test('a failing migration is reported each time, and works once it is fixed', async () => {
  writeFileSync(join(folder, '0002-broken.sql'), 'create tabel author (name text);\n')
  await expect(createDatabase()).rejects.toThrow('syntax error')
  await expect(createDatabase()).rejects.toThrow('syntax error')
  writeFileSync(join(folder, '0002-broken.sql'), 'create table author (name text);\n')
  const repaired = await createDatabase()
  expect(await repaired.db.query('select name from author')).toEqual([])
  await repaired.db.close()
})

test('drop removes it despite open connections', async () => {
  const { db, drop, url } = await createDatabase()
  await db.query('select 1')
  await drop()
  await db.close()
  const deleted = openPostgres({ url, schema, log: testLog })
  await expect(deleted.query('select 1')).rejects.toThrow(/does not exist/)
  await deleted.close()
})
