import {
  createPartitions,
  type Db,
  isMissingPartitionError,
  partitionRetention,
  type RetainedTable,
  type TimePartitionedTable,
} from '@vitascope/postgres'
import type { AuditEntry, AuditFilter, AuditOutcome, AuditStore } from './audit.ts'
import { toMinId, toTime } from './entry-id.ts'

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

interface ListRow {
  scanned: number
  oldest_id: string | null
  entries: EntryRow[]
}

/** Maximum number of entries that one call scans. If few of them match the filter, the next call continues. */
const MAX_SCANNED = 2_000

/**
 * Creates the store. An entry is one row of a table with seven indexes, an outcome is one row of a
 * table with one index. The gateway sends them in batches, and each batch is one statement and one
 * commit. A list scans at most 2,000 rows of one index, regardless of its filters.
 */
export function createAuditStore(db: Db, maxScanned = MAX_SCANNED): AuditStore {
  return {
    async append(entries, outcomes, signal) {
      signal.throwIfAborted()
      try {
        await insert(db, entries, outcomes)
      } catch (error) {
        if (!isMissingPartitionError(error)) throw error
        await createMissingPartitions(
          db,
          [...entries, ...outcomes].map(({ entryId }) => entryId),
        )
        await insert(db, entries, outcomes)
      }
    },
    async list(filter, { size, before }, signal) {
      const { indexRange, order, filters, values } = toConditions(filter, before)
      const bind = (value: unknown) => `$${values.push(value)}`
      // The remaining filters and the outcomes are only applied to the scanned rows. Requests that
      // ended with 5xx or without an outcome are included, because they may have taken effect.
      const [row] = await queryInIndexOrder<ListRow>(
        db,
        `with scanned as materialized (
           select * from audit_entry where ${indexRange} order by ${order} limit ${bind(maxScanned)}
         ), matching as (
           select s.* from scanned s left join audit_outcome o using (entry_id)
           where (o.status is null or o.status < 400 and o.status <> 304 or o.status >= 500) ${filters.map((filter) => `and ${filter}`).join(' ')}
           order by entry_id desc limit ${bind(size + 1)}
         )
         select (select count(*)::int from scanned) as scanned,
           (select entry_id from scanned order by entry_id limit 1) as oldest_id,
           coalesce((select json_agg(json_build_object('entry_id', entry_id, 'organisation_id', organisation_id::text, 'user_id', user_id::text,
             'key_start', key_start, 'action', action, 'object', object, 'request_id', request_id, 'address', address)
             order by entry_id desc) from matching), '[]') as entries`,
        values,
        signal,
      )
      if (!row) throw new Error('a select without a table has one row')
      const entries = row.entries.slice(0, size).map(toEntry)
      if (row.entries.length > size) return { entries, next: entries.at(-1)?.entryId }
      return { entries, next: row.scanned === maxScanned ? (row.oldest_id ?? undefined) : undefined }
    },
  }
}

/** Inserts entries and outcomes in one statement, so in one round trip. Every write request waits for it. */
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
    [...toEntryColumns(entries), ...toOutcomeColumns(outcomes)],
  )
}

/**
 * Runs a query with sorting disabled, so that it scans the index in the requested order. If few
 * rows are expected, the planner would otherwise read and sort a shorter index, and its statistics
 * of a growing log are outdated.
 */
export function queryInIndexOrder<Row>(db: Db, text: string, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
  return db.readOnly(async (query) => {
    await query(`select set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`)
    return await query<Row>(text, values)
  }, signal)
}

/** The tables are partitioned by week. The time of a row is part of its id. */
export const AUDIT_TABLES: readonly TimePartitionedTable[] = ['audit_entry', 'audit_outcome'].map((table) => ({
  table,
  days: 7,
  bound: (day) => `'${toMinId(new Date(day))}'`,
}))

/**
 * Returns the retention of entries and outcomes. Partitions that are older than `days` are dropped.
 * The tables are listed separately, because an outcome can exist without an entry.
 */
export function auditRetention(db: Db, days: number, now: () => number = Date.now): RetainedTable[] {
  return AUDIT_TABLES.map((table) => partitionRetention(db, table, { days, now }))
}

/**
 * Creates missing partitions, so that no write is rejected. They are normally created weeks ahead,
 * but can be missing after a restore of an old backup.
 */
async function createMissingPartitions(db: Db, entryIds: readonly string[]): Promise<void> {
  const days = [...new Set(entryIds.map((id) => new Date(toTime(id)).toISOString().slice(0, 10)))]
  await db.transaction(async (tx) => {
    for (const table of AUDIT_TABLES) await createPartitions(tx, table, days)
  })
}

const MIN_ID = '00000000-0000-0000-0000-000000000000'
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns the range of one index (`indexRange`, `order`) and the remaining filters (`filters`). The
 * range compares complete rows of the index. With an equality, the planner might scan the primary
 * key, which reads the complete log for users without recent writes.
 */
export function toConditions({ organisationId, userId, action, object, from, until }: AuditFilter, before: string | undefined) {
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
  const upperId = [before, until && toMinId(until)].filter((id) => id !== undefined).sort()[0] ?? MAX_ID
  const bindKey = (id: string) => [...leading.map(({ value, type }) => bind(value, type)), bind(id, 'uuid')].join(', ')
  const key = [...leading.map(({ name }) => name), 'entry_id']
  const lowerId = from ? toMinId(from) : MIN_ID
  return {
    // The conditions on the id select the partitions.
    indexRange: `(${key.join(', ')}) >= (${bindKey(lowerId)}) and (${key.join(', ')}) < (${bindKey(upperId)})
      and entry_id >= ${bind(lowerId, 'uuid')} and entry_id < ${bind(upperId, 'uuid')}`,
    order: key.map((name) => `${name} desc`).join(', '),
    filters: rest.map(({ name, type, value }) => `${name} = ${bind(value, type)}`),
    values,
  }
}

function toEntryColumns(entries: readonly AuditEntry[]): unknown[] {
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

function toOutcomeColumns(outcomes: readonly AuditOutcome[]): unknown[] {
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
