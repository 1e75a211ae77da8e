import pg from 'pg'
import type { Db, Query, Transaction } from './db.ts'
import type { RetainedTable } from './retention.ts'

/**
 * A table that is partitioned by time. A partition contains the rows of complete UTC days and is
 * dropped completely.
 */
export interface TimePartitionedTable {
  table: string
  /**
   * Days of a partition. Partitions start at multiples of it, counted from Monday, 5 January 1970.
   */
  days: 1 | 7 | 28
  /**
   * Returns the SQL of the smallest partition key of a day (`YYYY-MM-DD`). Default: the day itself.
   */
  bound?: (day: string) => string
  /** Storage parameters of the partitions, such as `fillfactor = 85`. */
  storage?: string
  /** True if a partition `…_default` stores rows of days without a partition. */
  hasDefault?: boolean
}

const DAY_MS = 86_400_000
/** 5 January 1970, a Monday, in days since the epoch. */
const FIRST_MONDAY = 4
/**
 * Partitions of several days are created this number of days ahead. If creation fails, inserts are
 * rejected only after that time.
 */
const DAYS_AHEAD = 56
/**
 * Partitions of single days are created only two days ahead, because each adds cost to look-ups by
 * other keys, such as foreign keys.
 */
const SHORT_DAYS_AHEAD = 2

/**
 * Returns the name of the partition of a day. Days are constants or come from a clock, so the name
 * needs no quotes.
 */
export function partitionName({ table, days }: TimePartitionedTable, day: string): string {
  return `${table}_${compact(firstDay(days, day))}`
}

/** Creates the missing partitions of the days in the caller's transaction. */
export async function createPartitions({ query }: Transaction, table: TimePartitionedTable, days: readonly string[]): Promise<void> {
  const firstDays = new Map(days.map((day) => [partitionName(table, day), firstDay(table.days, day)]))
  const missing = () =>
    query<{ name: string }>('select name from unnest($1::text[]) name where to_regclass(name) is null order by name', [
      [...firstDays.keys()],
    ])
  if ((await missing()).length === 0) return
  await lockPartitions(query, table)
  // A table that was partitioned later has one partition for all days before a certain day.
  const ends = (await listPartitions(query, table)).filter(({ isFirst }) => isFirst).map(({ end }) => end)
  for (const { name } of await missing()) {
    const day = firstDays.get(name) ?? ''
    if (ends.some((end) => day < end)) continue
    await createPartition(query, table, name, day)
  }
}

/** Returns whether an insert failed because no partition exists for the row. */
export function isMissingPartitionError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.message.startsWith('no partition of relation')
}

/**
 * Creates the partitions from yesterday to eight weeks ahead. Partitions of single days are created
 * to two days ahead.
 */
export async function createPartitionsAhead(db: Db, table: TimePartitionedTable, now: number = Date.now()): Promise<void> {
  const days: string[] = []
  for (let day = -1; day <= (table.days === 1 ? SHORT_DAYS_AHEAD : DAYS_AHEAD); day++) days.push(dayAt(now + day * DAY_MS))
  await db.transaction((tx) => createPartitions(tx, table, days))
}

export interface PartitionRetentionOptions {
  /** Number of days that are kept. */
  days: number
  /** Returns the time in milliseconds. */
  now: () => number
  /** See `dropPartitions`. */
  isInUse?: ((query: Query, partition: string) => Promise<boolean>) | undefined
}

/** Returns the retention of a table. It creates partitions ahead, and drops those that end before the last `days` days. */
export function partitionRetention(db: Db, table: TimePartitionedTable, { days, now, isInUse }: PartitionRetentionOptions): RetainedTable {
  return {
    table: table.table,
    async remove(limit) {
      await createPartitionsAhead(db, table, now())
      return dropPartitions(db, table, { day: dayAt(now() - days * DAY_MS), limit, isInUse })
    },
  }
}

/**
 * Drops up to `limit` partitions that end before `day`. Returns the number of partitions it
 * examined. A partition for which `isInUse` returns true is not dropped. The drop waits for running
 * statements on the table for at most 2 s.
 */
export async function dropPartitions(
  db: Db,
  table: TimePartitionedTable,
  { day, limit, isInUse }: { day: string; limit: number; isInUse?: PartitionRetentionOptions['isInUse'] },
): Promise<number> {
  const old = (await listPartitions(db.query, table)).filter(({ end }) => end <= day).slice(0, limit)
  for (const { name } of old) {
    await db.transaction(async ({ query }) => {
      await lockPartitions(query, table)
      if (await isInUse?.(query, name)) return
      // The database generated the name.
      await query(`drop table if exists ${name}`)
    })
  }
  return old.length
}

/**
 * Creates a partition as a table and attaches it, which, unlike creating it in place, does not
 * block inserts. If the default partition has rows of its days, no partition is created.
 */
async function createPartition(query: Query, table: TimePartitionedTable, name: string, day: string): Promise<void> {
  const { table: parent, days, bound = (of: string) => `'${of}'`, storage, hasDefault } = table
  const [from, to] = [bound(day), bound(dayAt(Date.parse(day) + days * DAY_MS))]
  if (hasDefault) {
    const [key] = await query<{ column: string }>(
      `select attname as column from pg_partitioned_table join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
       where partrelid = $1::regclass`,
      [parent],
    )
    const defaultRows = await query(`select 1 from ${parent}_default where ${key?.column} >= ${from} and ${key?.column} < ${to} limit 1`)
    if (defaultRows.length > 0) return
  }
  await query(`create table ${name} (like ${parent} including defaults including constraints)${storage ? ` with (${storage})` : ''}`)
  await query(`alter table ${parent} attach partition ${name} for values from (${from}) to (${to})`)
}

/**
 * Excludes other callers that create or drop partitions of the table, until the end of the
 * transaction.
 */
function lockPartitions(query: Query, { table }: TimePartitionedTable): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(hashtext('vitascope partitions of ' || $1))`, [table])
}

interface Partition {
  name: string
  /** The first day after the partition. */
  end: string
  /** True if the partition contains all days before its end. */
  isFirst: boolean
}

/** Returns the partitions except the default one, oldest first. */
async function listPartitions(query: Query, { table, days }: TimePartitionedTable): Promise<Partition[]> {
  const rows = await query<{ name: string }>('select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass', [
    table,
  ])
  return rows
    .flatMap(({ name }): Partition[] => {
      const [, before, year, month, day] = /_(before_)?(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
      if (year === undefined) return []
      const date = `${year}-${month}-${day}`
      return [{ name, end: before ? date : dayAt(Date.parse(date) + days * DAY_MS), isFirst: before !== undefined }]
    })
    .sort((a, b) => (a.end < b.end ? -1 : 1))
}

/** Returns the first day of the partition of a day. */
function firstDay(days: TimePartitionedTable['days'], day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`not a day: ${day}`)
  if (days === 1) return day
  const number = Math.floor(Date.parse(day) / DAY_MS)
  return dayAt((number - ((number - FIRST_MONDAY) % days)) * DAY_MS)
}

/** Returns the UTC day of a time as `YYYY-MM-DD`. */
function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function compact(day: string): string {
  return day.replaceAll('-', '')
}
