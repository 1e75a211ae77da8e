import {
  type Db,
  dropPartitions,
  isWithoutPartition,
  makePartitions,
  makePartitionsAhead,
  type RetainedTable,
  type TimePartitionedTable,
} from '@vitascope/postgres'
import type { AuditEntry, AuditFilter, AuditOutcome, AuditStore } from './audit.ts'
import { minIdOf, timeOf } from './entry-id.ts'

interface EntryRow {
  entry_id: string
  organisation_id: string | null
  user_id: string | null
  key_start: string
  action: string
  object: string
  request_id: string
  address: string
}

interface ListedRow {
  looked_at: number
  last_id: string | null
  entries: EntryRow[]
}

/** Maximum number of entries that one call scans. If few of them match the filter, the next call continues. */
const MAX_SCANNED = 2_000

/**
 * Creates the store. Before a write, it inserts one row into the log with its seven indexes; after
 * it, one row with one index. Both are batched: one statement and one commit for all rows that a
 * gateway has at that moment. A list scans at most 2,000 rows of one index, regardless of its
 * filters.
 */
export function createAuditStore(db: Db, maxScanned = MAX_SCANNED): AuditStore {
  return {
    async append(entries, outcomes, signal) {
      signal.throwIfAborted()
      try {
        await insert(db, entries, outcomes)
      } catch (error) {
        if (!isWithoutPartition(error)) throw error
        await makeMissing(
          db,
          [...entries, ...outcomes].map(({ entryId }) => entryId),
        )
        await insert(db, entries, outcomes)
      }
    },
    async list(filter, { size, before }, signal) {
      const { led, order, others, values } = conditions(filter, before)
      const bind = (value: unknown) => `$${values.push(value)}`
      // Applies the other filters and outcomes only to the scanned rows. Writes that failed with
      // 5xx or have no outcome are included, because they may have taken effect.
      const [row] = await walking<ListedRow>(
        db,
        `with looked_at as materialized (
           select * from audit_entry where ${led} order by ${order} limit ${bind(maxScanned)}
         ), shown as (
           select l.* from looked_at l left join audit_outcome o using (entry_id)
           where (o.status is null or o.status < 400 and o.status <> 304 or o.status >= 500) ${others.map((other) => `and ${other}`).join(' ')}
           order by entry_id desc limit ${bind(size + 1)}
         )
         select (select count(*)::int from looked_at) as looked_at,
           (select entry_id from looked_at order by entry_id limit 1) as last_id,
           coalesce((select json_agg(json_build_object('entry_id', entry_id, 'organisation_id', organisation_id::text, 'user_id', user_id::text,
             'key_start', key_start, 'action', action, 'object', object, 'request_id', request_id, 'address', address)
             order by entry_id desc) from shown), '[]') as entries`,
        values,
        signal,
      )
      if (!row) throw new Error('a select without a table has one row')
      const entries = row.entries.slice(0, size).map(toEntry)
      if (row.entries.length > size) return { entries, next: entries.at(-1)?.entryId }
      return { entries, next: row.looked_at === maxScanned ? (row.last_id ?? undefined) : undefined }
    },
  }
}

/** One statement is one transaction and one round trip. Every write waits for it. */
async function insert(db: Db, entries: readonly AuditEntry[], outcomes: readonly AuditOutcome[]): Promise<void> {
  await db.query(
    `with entry as (
       insert into audit_entry (entry_id, organisation_id, user_id, key_start, action, object, request_id, address)
       select id, nullif(organisation, '')::bigint, nullif(usr, '')::bigint, key, action, object, request, address
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as e (id, organisation, usr, key, action, object, request, address)
       on conflict do nothing
     )
     insert into audit_outcome (entry_id, status, created_id) select * from unnest($9::uuid[], $10::int[], $11::text[]) on conflict do nothing`,
    [...toColumns(entries), ...outcomeColumns(outcomes)],
  )
}

/**
 * Runs a query with sorting disabled, so that it scans the index in the requested order. If few
 * rows are expected, the planner would otherwise read and sort a shorter index, and its statistics
 * of a growing log are outdated.
 */
export function walking<Row>(db: Db, text: string, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
  return db.readOnly(async (query) => {
    await query(`select set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`)
    return await query<Row>(text, values)
  }, signal)
}

const DAY_MS = 86_400_000
/** Partitioned by week, by the time in the ids. */
export const AUDIT_TABLES: readonly TimePartitionedTable[] = ['audit_entry', 'audit_outcome'].map((table) => ({
  table,
  days: 7,
  bound: (day) => `'${minIdOf(new Date(day))}'`,
}))

/**
 * Returns the retention of entries and outcomes: weeks before the last `days` are dropped. Outcomes
 * are listed separately, because they can exist without an entry.
 */
export function auditRetention(db: Db, days: number, now: () => number = Date.now): RetainedTable[] {
  return AUDIT_TABLES.map((table) => ({
    table: table.table,
    async remove(limit) {
      await makePartitionsAhead(db, table, now())
      return dropPartitions(db, table, { day: new Date(now() - days * DAY_MS).toISOString().slice(0, 10), limit })
    },
  }))
}

/**
 * Creates missing partitions, so that no write is rejected. They are normally created weeks ahead,
 * but can be missing after a restore of an old backup.
 */
async function makeMissing(db: Db, entryIds: readonly string[]): Promise<void> {
  const days = [...new Set(entryIds.map((id) => new Date(timeOf(id)).toISOString().slice(0, 10)))]
  await db.transaction(async (tx) => {
    for (const table of AUDIT_TABLES) await makePartitions(tx, table, days)
  })
}

const MIN_ID = '00000000-0000-0000-0000-000000000000'
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns the range of one index (`led`, `order`) and the remaining filters (`others`). The range
 * compares whole rows of the index. With an equality, the planner might scan the primary key, which
 * reads the whole log for users without recent writes.
 */
export function conditions({ organisationId, userId, action, object, from, until }: AuditFilter, before: string | undefined) {
  const values: unknown[] = []
  const bind = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const column = (name: string, type: string, value: unknown) => (value === undefined ? [] : [{ name, type, value }])
  const [ofOrganisation, ofUser] = [column('organisation_id', 'bigint', organisationId), column('user_id', 'bigint', userId)]
  const [ofAction, ofObject] = [column('action', 'text', action), column('object', 'text', object)]
  // A user belongs to one organisation, so the organisation need not be part of the index range.
  const [leading, rest] =
    object !== undefined
      ? [
          [...ofOrganisation, ...ofObject],
          [...ofUser, ...ofAction],
        ]
      : userId !== undefined
        ? [ofUser, [...ofOrganisation, ...ofAction]]
        : [[...ofOrganisation, ...ofAction], []]
  const high = [before, until && minIdOf(until)].filter((id) => id !== undefined).sort()[0] ?? GREATEST_ID
  const place = (id: string) => [...leading.map(({ value, type }) => bind(value, type)), bind(id, 'uuid')].join(', ')
  const key = [...leading.map(({ name }) => name), 'entry_id']
  const low = from ? minIdOf(from) : MIN_ID
  return {
    // The conditions on the id select the partitions.
    led: `(${key.join(', ')}) >= (${place(low)}) and (${key.join(', ')}) < (${place(high)})
      and entry_id >= ${bind(low, 'uuid')} and entry_id < ${bind(high, 'uuid')}`,
    order: key.map((name) => `${name} desc`).join(', '),
    others: rest.map(({ name, type, value }) => `${name} = ${bind(value, type)}`),
    values,
  }
}

function toColumns(entries: readonly AuditEntry[]): unknown[] {
  return [
    entries.map((entry) => entry.entryId),
    entries.map((entry) => entry.organisationId),
    entries.map((entry) => entry.userId),
    entries.map((entry) => entry.keyStart),
    entries.map((entry) => entry.action),
    entries.map((entry) => entry.object),
    entries.map((entry) => entry.requestId),
    entries.map((entry) => entry.address),
  ]
}

function outcomeColumns(outcomes: readonly AuditOutcome[]): unknown[] {
  return [outcomes.map(({ entryId }) => entryId), outcomes.map(({ status }) => status), outcomes.map(({ createdId }) => createdId)]
}

function toEntry(row: EntryRow): AuditEntry {
  return {
    entryId: row.entry_id,
    organisationId: row.organisation_id ?? '',
    userId: row.user_id ?? '',
    keyStart: row.key_start,
    action: row.action,
    object: row.object,
    requestId: row.request_id,
    address: row.address,
  }
}
