import { createPartitions, openPostgres, type TimePartitionedTable } from '@vitascope/postgres'
import { testLog } from '@vitascope/testing'
import pg from 'pg'
import { VIEWERS, VIEWS } from '../../apps/analytics/src/view/partitions.ts'
import { AUDIT_TABLES } from '../../apps/auth/src/audit/audit-store.ts'
import { DELIVERIES } from '../../apps/catalogue/src/notification/webhook/delivery-retention.ts'

export const SCHEMAS = ['analytics', 'auth', 'catalogue'] as const
export type Schema = (typeof SCHEMAS)[number]

/** Default retention of the services in days. */
export const RETENTION_DAYS = { analytics: 90, audit: 400 }

interface Filling {
  schema: Schema
  table: string
  /** Share of all rows. */
  share: number
  /** The rows are spread evenly over this number of days up to now. */
  days: number
  /** `$1` is the number of rows, `n` runs from 1 to that number, and `t` is the time of a row. */
  columns: string
  values: string
}

const UUID_AT = `(lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid`

const FILLINGS: readonly Filling[] = [
  {
    ...{ schema: 'analytics', table: 'viewer', share: 0.3, days: 120 },
    columns: 'day, organisation_id, video_id, visitor',
    values: `(t at time zone 'UTC')::date, n % 100, n % 10000, int8send(n)`,
  },
  {
    ...{ schema: 'analytics', table: 'view', share: 0.16, days: 120 },
    columns: `view_id, video_id, duration_ms, organisation_id, first_ms, last_ms, played, furthest_ms, buckets, watched, rewatched, language, language_ms,
      subtitle, subtitle_ms, failed, last_day`,
    values: `md5(n::text)::uuid, n % 10000, 600000, n % 100, extract(epoch from t) * 1000, extract(epoch from t) * 1000, true, 5000, 3,
      decode(repeat('0f', 75), 'hex'), '', 'en', 0, '', 0, false, (t at time zone 'UTC')::date`,
  },
  {
    ...{ schema: 'auth', table: 'audit_entry', share: 0.16, days: 440 },
    columns: 'entry_id, organisation_id, user_id, key_start, action, object, request_id, address',
    values: `${UUID_AT}, n % 100, n % 1000, 'vs_abcde', 'folder::put', '/folder/' || n % 1000, 'r' || n, '127.0.0.1'`,
  },
  { ...{ schema: 'auth', table: 'audit_outcome', share: 0.16, days: 440 }, columns: 'entry_id, status', values: `${UUID_AT}, 200` },
  {
    ...{ schema: 'auth', table: 'idempotency', share: 0.02, days: 20 },
    columns: 'key, fingerprint, response, create_time',
    values: `md5(n::text), md5(n::text), decode(repeat('00', 200), 'hex'), t`,
  },
  {
    ...{ schema: 'catalogue', table: 'event', share: 0.1, days: 9 },
    columns: 'event_id, type, organisation_id, object_key, data, create_time',
    values: `'evt_' || md5(n::text), 'video.created', 1, 'media:' || n % 10000, '{"video_id": "1"}', t`,
  },
  {
    ...{ schema: 'catalogue', table: 'webhook_delivery', share: 0.1, days: 9 },
    columns: 'webhook_id, event_id, object_key, state, attempt, create_time',
    values: `1, 'evt_' || md5(n::text), 'media:' || n % 10000, 'delivered', 1, t`,
  },
]

const PARTITIONED: readonly TimePartitionedTable[] = [VIEWERS, VIEWS, ...AUDIT_TABLES, DELIVERIES]
/** Rows per insert. */
const AT_ONCE = 250_000

/**
 * Fills the tables with `rows` rows in total, in the partitions that daily inserts would have
 * created.
 */
export async function seed(url: string, rows: number, print: (line: string) => void): Promise<void> {
  for (const filling of FILLINGS) {
    const { schema, table, share, days, columns, values } = filling
    const count = Math.round(rows * share)
    const start = performance.now()
    await partition(url, filling)
    const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
    await client.connect()
    try {
      // Disables triggers and foreign key checks, because the rows are consistent.
      await client.query('set session_replication_role = replica')
      if (table === 'webhook_delivery') {
        await client.query('insert into organisation (organisation_id, revision, active) values (1, 1, true)')
        await client.query(
          `insert into webhook (organisation_id, url, events, enabled, secret) values (1, 'https://a.b', '{video.created}', true, '')`,
        )
      }
      for (let from = 1; from <= count; from += AT_ONCE) {
        await client.query(
          `insert into ${table} (${columns}) select ${values} from (
             select n, now() - (1 - n::float8 / $3) * $4::int * interval '1 day' as t from generate_series($1::bigint, $2::bigint) n) s`,
          [from, Math.min(count, from + AT_ONCE - 1), count, days],
        )
      }
      await client.query(`analyze ${table}`)
    } finally {
      await client.end()
    }
    print(`${schema}.${table}: ${count} rows of ${days} days in ${((performance.now() - start) / 1_000).toFixed(0)} s`)
  }
}

/**
 * Creates the partitions of the days, and drops the empty partition of all days before the
 * migration.
 */
async function partition(url: string, { schema, table, days }: Filling): Promise<void> {
  const partitioned = PARTITIONED.find((one) => one.table === table)
  if (!partitioned) return
  const db = openPostgres({ url, schema, log: testLog })
  try {
    const [first] = await db.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass and inhrelid::regclass::text like '%before%'`,
      [table],
    )
    if (first) await db.query(`drop table ${first.name}`)
    const all = Array.from({ length: days + 3 }, (_, ago) => new Date(Date.now() - (ago - 1) * 86_400_000).toISOString().slice(0, 10))
    await db.transaction((tx) => createPartitions(tx, partitioned, all))
  } finally {
    await db.close()
  }
}
