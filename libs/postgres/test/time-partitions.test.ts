import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLogger } from '@vitascope/telemetry'
import { createTestDatabase } from '@vitascope/testing'
import {
  createPartitions,
  createPartitionsAhead,
  type Db,
  dropPartitions,
  isMissingPartitionError,
  openPostgres,
  partitionName,
  type TimePartitionedTable,
} from '../src/index.ts'

const WEEKS: TimePartitionedTable = { table: 'seen', days: 7, storage: 'fillfactor = 85' }
const DAYS: TimePartitionedTable = { table: 'sent', days: 1, bound: (day) => `'${day} 00:00:00+00'`, hasDefault: true }
/** A Wednesday. */
const NOW = Date.parse('2030-01-09T12:00:00Z')
let db: Db
let drop: () => Promise<void>
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await writeFile(
    join(folder, '0001-seen.sql'),
    `create table seen_before_20300107 (day date not null, name text not null, primary key (day, name));
     create table seen (like seen_before_20300107) partition by range (day);
     alter table seen add primary key (day, name);
     alter table seen attach partition seen_before_20300107 for values from (minvalue) to ('2030-01-07');
     create table sent (at timestamptz not null, state text not null check (state <> '')) partition by range (at);
     create table sent_default partition of sent default;`,
  )
  const fresh = await createTestDatabase({ migrations: folder, schema: 'parts' })
  drop = fresh.drop
  db = openPostgres({ url: fresh.url, schema: 'parts', log: createLogger({ service: 'test', level: 'silent' }) })
})
afterAll(async () => {
  await db.close()
  await drop()
  await rm(folder, { recursive: true })
})

const partitions = async (table: string) =>
  (
    await db.query<{ name: string }>(
      'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by inhrelid::regclass::text',
      [table],
    )
  ).map(({ name }) => name)
const create = (table: TimePartitionedTable, days: string[]) => db.transaction((tx) => createPartitions(tx, table, days))

test('partitions of weeks start on a Monday, and invalid days are rejected', () => {
  expect(partitionName(WEEKS, '2030-01-07')).toBe('seen_20300107')
  expect(partitionName(WEEKS, '2030-01-13')).toBe('seen_20300107')
  expect(partitionName(WEEKS, '2030-01-14')).toBe('seen_20300114')
  expect(partitionName(DAYS, '2030-01-13')).toBe('sent_20300113')
  expect(partitionName({ table: 'view', days: 28 }, '2030-01-13')).toBe('view_20291217')
  expect(partitionName({ table: 'view', days: 28 }, '2030-01-14')).toBe('view_20300114')
  expect(partitionName({ table: 'view', days: 28 }, '2030-02-10')).toBe('view_20300114')
  expect(() => partitionName(DAYS, "2030'; drop")).toThrow('not a day')
})

test('missing partitions are created, also by concurrent callers, but none within the partition of all earlier days', async () => {
  await Promise.all([1, 2, 3].map(() => create(WEEKS, ['2030-01-06', '2030-01-09', '2030-01-14', '2030-01-15'])))
  expect(await partitions('seen')).toEqual(['seen_20300107', 'seen_20300114', 'seen_before_20300107'])
  await db.query(`insert into seen values ('2029-05-05', 'a'), ('2030-01-09', 'b'), ('2030-01-14', 'c')`)
  expect(await db.query('select name, tableoid::regclass::text as part from seen order by name')).toEqual([
    { name: 'a', part: 'seen_before_20300107' },
    { name: 'b', part: 'seen_20300107' },
    { name: 'c', part: 'seen_20300114' },
  ])
  const [options] = await db.query(`select reloptions::text as set from pg_class where relname = 'seen_20300107'`)
  expect(options).toEqual({ set: '{fillfactor=85}' })
})

test('a row without a partition is distinguished from other errors', async () => {
  const rejected = await db.query(`insert into seen values ('2031-01-01', 'd')`).catch((error: unknown) => error)
  expect(isMissingPartitionError(rejected)).toBe(true)
  expect(isMissingPartitionError(await db.query(`insert into sent values (now(), '')`).catch((error: unknown) => error))).toBe(false)
})

test('partitions are dropped if their last day is before the bound and they are not in use', async () => {
  const dropUntil = (day: string, isInUse?: () => Promise<boolean>) =>
    dropPartitions(db, WEEKS, { day, limit: 10, ...(isInUse && { isInUse }) })
  expect(await dropUntil('2030-01-13')).toBe(1)
  expect(await partitions('seen')).toEqual(['seen_20300107', 'seen_20300114'])
  expect(await dropUntil('2030-01-14', async () => true)).toBe(1)
  expect(await partitions('seen')).toEqual(['seen_20300107', 'seen_20300114'])
  expect(await dropUntil('2030-01-14')).toBe(1)
  expect(await partitions('seen')).toEqual(['seen_20300114'])
})

test('rows of days without a partition go to the default partition, and partitions of other days are still created', async () => {
  await db.query(`insert into sent values ('2030-01-10 03:00+00', 'early')`)
  await createPartitionsAhead(db, DAYS, NOW)
  const result = await partitions('sent')
  expect(result).toEqual(['sent_20300108', 'sent_20300109', 'sent_20300111', 'sent_default'])
  await db.query(`delete from sent_default`)
  await createPartitionsAhead(db, DAYS, NOW)
  expect(await partitions('sent')).toContain('sent_20300110')
})

test('weekly partitions are created for eight weeks ahead', async () => {
  await createPartitionsAhead(db, WEEKS, NOW)
  expect(await partitions('seen')).toHaveLength(9)
})
