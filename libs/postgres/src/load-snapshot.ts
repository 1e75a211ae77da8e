import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import * as copyStreams from 'pg-copy-streams'
import { connectOnce } from './connect-once.ts'
import { copyTarget, type DumpedSequence, type DumpedTable, readMigrations, SnapshotError } from './snapshot.ts'

/** The part of a snapshot that belongs to one schema. */
export interface DumpedSchema {
  schema: string
  migrations: readonly string[]
  tables: readonly (DumpedTable & { rows: number })[]
  sequences: readonly DumpedSequence[]
}

/**
 * Fills a schema, which `migrate` has created, with the rows of a snapshot. It runs in one
 * transaction, as the role that owns the schema. `read` returns the rows of a table in the format
 * of `copy`. Triggers are disabled: the snapshot contains their results. Services detect afterwards
 * that the database has changed (`watchFailovers`).
 */
export async function loadSchema(
  url: string,
  schemaDump: DumpedSchema,
  read: (table: DumpedTable) => AsyncIterable<Buffer>,
): Promise<void> {
  const { schema, sequences } = schemaDump
  const client = await connectOnce(url)
  try {
    await requireSameMigrations(client, schemaDump)
    await client.query('begin')
    await client.query(`set local statement_timeout = 0; set local search_path = ${pg.escapeIdentifier(schema)}`)
    await dropOtherPartitions(client, schemaDump)
    for (const { table, partition } of schemaDump.tables) {
      if (!partition) continue
      // The bound is SQL that the database generated.
      await client.query(
        `create table if not exists ${pg.escapeIdentifier(table)} partition of ${pg.escapeIdentifier(partition.of)} ${partition.bound}`,
      )
    }
    const tables = await orderByReferences(client, schemaDump)
    const names = tables.map((table) => pg.escapeIdentifier(table.table))
    for (const name of names) await client.query(`alter table ${name} disable trigger user`)
    const filledTables = await findFilledTables(client, names)
    if (filledTables.length > 0) await client.query(`truncate ${filledTables.join(', ')} cascade`)
    for (const table of tables) await copyRows(client, table, read(table))
    await client.query('set constraints all immediate')
    for (const name of names) await client.query(`alter table ${name} enable trigger user`)
    for (const { sequence, last } of sequences) {
      if (last !== null) await client.query('select setval($1::regclass, $2::bigint)', [pg.escapeIdentifier(sequence), last])
    }
    await client.query(`insert into failover (system_id, timeline, settle_time) values ('a backup', '', now())`)
    await client.query('commit')
    // The role owns only these tables. A plain `analyze` would warn about every other one.
    await client.query(`analyze ${names.map((name) => `${pg.escapeIdentifier(schema)}.${name}`).join(', ')}`)
  } finally {
    await client.end()
  }
}

/** Returns the number of rows of each table of a schema. */
export async function countRows(url: string, { schema, tables }: Pick<DumpedSchema, 'schema' | 'tables'>): Promise<Map<string, number>> {
  const client = await connectOnce(url)
  try {
    const counts = new Map<string, number>()
    for (const { table } of tables) {
      const name = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`
      const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${name}`)
      counts.set(table, Number(rows[0]?.count))
    }
    return counts
  } finally {
    await client.end()
  }
}

/**
 * Returns whether the schema does not exist or contains no tables, sequences or other relations.
 */
export async function isEmptySchema(url: string, schema: string): Promise<boolean> {
  const client = await connectOnce(url)
  try {
    const { rows } = await client.query('select from pg_class where relnamespace = to_regnamespace($1) limit 1', [schema])
    return rows.length === 0
  } finally {
    await client.end()
  }
}

/**
 * Yields the rows of a query as text, one line for each row in the format of `copy`. The query must
 * be a constant.
 */
export async function* readRows(url: string, query: string): AsyncGenerator<Buffer> {
  const client = await connectOnce(url)
  try {
    for await (const part of client.query(copyStreams.to(`copy (${query}) to stdout`))) yield part as Buffer
  } finally {
    await client.end()
  }
}

async function requireSameMigrations(client: pg.Client, { schema, migrations }: DumpedSchema): Promise<void> {
  const applied = await readMigrations(client, schema)
  const extra = applied.filter((name) => !migrations.includes(name))
  const missing = migrations.filter((name) => !applied.includes(name))
  if (extra.length + missing.length === 0) return
  const [verb, name] = missing.length > 0 ? ['has', missing[0]] : ['lacks', extra[0]]
  throw new SnapshotError(
    `the backup is of another version: its schema ${schema} ${verb} ${name}. Restore it with the version that made it, then start the other one`,
  )
}

/**
 * Drops the partitions that migrations created around today. They are empty and may overlap with
 * those of the snapshot.
 */
async function dropOtherPartitions(client: pg.Client, { tables }: DumpedSchema): Promise<void> {
  const parents = [...new Set(tables.flatMap(({ partition }) => (partition ? [partition.of] : [])))]
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any(array(select to_regclass(quote_ident(name)) from unnest($1::text[]) name)::oid[]) and not c.relname = any($2)`,
    [parents, tables.map(({ table }) => table)],
  )
  for (const { name } of rows) await client.query(`drop table ${pg.escapeIdentifier(name)}`)
}

/**
 * Returns the tables with rows, which migrations inserted. Only these are truncated: some empty
 * tables allow inserts only, even for their owner.
 */
async function findFilledTables(client: pg.Client, names: readonly string[]): Promise<string[]> {
  const filledTables: string[] = []
  for (const name of names) if ((await client.query(`select from ${name} limit 1`)).rowCount) filledTables.push(name)
  return filledTables
}

/** Returns the tables in an order in which referenced tables come first. */
async function orderByReferences(client: pg.Client, { schema, tables }: DumpedSchema): Promise<(DumpedTable & { rows: number })[]> {
  const { rows } = await client.query<{ from: string; to: string }>(
    `select f.relname as from, t.relname as to from pg_constraint c join pg_class f on f.oid = c.conrelid join pg_class t on t.oid = c.confrelid
     where c.contype = 'f' and f.relnamespace = to_regnamespace($1) and f.oid <> t.oid`,
    [schema],
  )
  const ordered: (DumpedTable & { rows: number })[] = []
  const remaining = new Set(tables)
  while (remaining.size > 0) {
    const remainingNames = new Set([...remaining].flatMap(({ table, partition }) => [table, ...(partition ? [partition.of] : [])]))
    const ready = [...remaining].filter(({ table, partition }) =>
      rows.every(({ from, to }) => (from !== table && from !== partition?.of) || to === from || !remainingNames.has(to)),
    )
    if (ready.length === 0) throw new Error(`tables of ${schema} refer to each other in a cycle`)
    for (const table of ready) {
      ordered.push(table)
      remaining.delete(table)
    }
  }
  return ordered
}

async function copyRows(client: pg.Client, table: DumpedTable & { rows: number }, chunks: AsyncIterable<Buffer>): Promise<void> {
  const sink = client.query(copyStreams.from(`copy ${copyTarget(table)} from stdin`))
  await pipeline(Readable.from(chunks, { objectMode: false }), sink)
  if (sink.rowCount !== table.rows) {
    throw new Error(`${table.schema}.${table.table} received ${sink.rowCount} of the ${table.rows} rows of the backup`)
  }
}
