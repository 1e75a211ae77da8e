import type { Db } from '@vitascope/postgres'
import type { AuditEntry, AuditFilter, AuditOutcome, AuditStore } from './audit.ts'
import { leastIdOf } from './entry-id.ts'

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

/** Entries that one call looks at: a filter that few of them meet goes on with the next call. */
const MOST_LOOKED_AT = 2_000
const SWEPT_AT_ONCE = 5_000

/**
 * The cost of a write: a row in the log and its seven indexes before it, and a row with one index after it. Both come in batches, one
 * statement and one commit for as many as a gateway has at that moment, so the commits are few when the writes are many. A list looks at
 * 2,000 rows of one index, whatever its filters are.
 */
export function createAuditStore(db: Db, mostLookedAt = MOST_LOOKED_AT): AuditStore {
  return {
    async append(entries, outcomes, signal) {
      signal.throwIfAborted()
      // One statement is one transaction, in one round trip: every write waits for it.
      await db.query(
        `with entry as (
           insert into audit_entry (entry_id, organisation_id, user_id, key_start, action, object, request_id, address)
           select id, nullif(organisation, '')::bigint, nullif(usr, '')::bigint, key, action, object, request, address
           from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
             as e (id, organisation, usr, key, action, object, request, address)
           on conflict do nothing
         )
         insert into audit_outcome (entry_id, status, made_id) select * from unnest($9::uuid[], $10::int[], $11::text[]) on conflict do nothing`,
        [...toColumns(entries), ...outcomeColumns(outcomes)],
      )
    },
    async list(filter, { size, before }, signal) {
      const { led, order, others, values } = conditions(filter, before)
      const bind = (value: unknown) => `$${values.push(value)}`
      // Only the rows that the index leads to are held against the other filters and their outcomes. What failed on our side (5xx) may
      // have been done all the same, as what was never answered.
      const [row] = await walking<ListedRow>(
        db,
        `with looked_at as materialized (
           select * from audit_entry where ${led} order by ${order} limit ${bind(mostLookedAt)}
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
      return { entries, next: row.looked_at === mostLookedAt ? (row.last_id ?? undefined) : undefined }
    },
  }
}

/**
 * Runs a query along the index whose order it asks for: where few rows are expected the planner would gather all of a shorter index and sort
 * them, and what it expects of a log that grows all the time is old.
 */
export function walking<Row>(db: Db, text: string, values: readonly unknown[], signal: AbortSignal): Promise<Row[]> {
  return db.reading(async (query) => {
    await query(`select set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`)
    return await query<Row>(text, values)
  }, signal)
}

/** Removes what is older than `days`; rows of outcomes that came without an entry too. */
export async function sweepAudit(db: Db, days: number): Promise<void> {
  const bound = leastIdOf(new Date(Date.now() - days * 86_400_000))
  for (const table of ['audit_entry', 'audit_outcome']) {
    let removed: number
    do {
      removed = await db.transaction(async ({ query }) => {
        await query(`set local vitascope.audit_sweep = 'on'`)
        const gone = await query(
          `delete from ${table} where entry_id in (select entry_id from ${table} where entry_id < $1 order by entry_id limit $2) returning 1`,
          [bound, SWEPT_AT_ONCE],
        )
        return gone.length
      })
    } while (removed === SWEPT_AT_ONCE)
  }
}

const LEAST_ID = '00000000-0000-0000-0000-000000000000'
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The span of one index (`led`, `order`), and what its rows are held against (`others`). The span is one of whole rows of the index: written as
 * an equality, the planner may walk the primary key instead, which for those who have written nothing of late goes through the whole log.
 */
export function conditions({ organisationId, userId, action, object, from, until }: AuditFilter, before: string | undefined) {
  const values: unknown[] = []
  const bind = (value: unknown, type: string) => `$${values.push(value)}::${type}`
  const column = (name: string, type: string, value: unknown) => (value === undefined ? [] : [{ name, type, value }])
  const [ofOrganisation, ofUser] = [column('organisation_id', 'bigint', organisationId), column('user_id', 'bigint', userId)]
  const [ofAction, ofObject] = [column('action', 'text', action), column('object', 'text', object)]
  // A user is of one organisation.
  const [leading, rest] =
    object !== undefined
      ? [
          [...ofOrganisation, ...ofObject],
          [...ofUser, ...ofAction],
        ]
      : userId !== undefined
        ? [ofUser, [...ofOrganisation, ...ofAction]]
        : [[...ofOrganisation, ...ofAction], []]
  const high = [before, until && leastIdOf(until)].filter((id) => id !== undefined).sort()[0] ?? GREATEST_ID
  const place = (id: string) => [...leading.map(({ value, type }) => bind(value, type)), bind(id, 'uuid')].join(', ')
  const key = [...leading.map(({ name }) => name), 'entry_id']
  const low = from ? leastIdOf(from) : LEAST_ID
  return {
    led: `(${key.join(', ')}) >= (${place(low)}) and (${key.join(', ')}) < (${place(high)})`,
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
  return [outcomes.map(({ entryId }) => entryId), outcomes.map(({ status }) => status), outcomes.map(({ madeId }) => madeId)]
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
