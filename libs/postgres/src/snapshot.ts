import type { Readable } from 'node:stream'
import pg from 'pg'
import * as copyStreams from 'pg-copy-streams'
import { connectOnce } from './connect-once.ts'

/** A table in a dump. Names are unquoted. */
export interface DumpedTable {
  schema: string
  table: string
  /** Columns in the order of the dump, without generated ones. */
  columns: string[]
  /** Parent and SQL of the bound of a partition. Undefined for other tables. */
  partition: { of: string; bound: string } | undefined
}

/** Position of a sequence. Ids up to it may have been issued. */
export interface DumpedSequence {
  schema: string
  sequence: string
  /** Null if the sequence has issued no ids yet. */
  last: string | null
}

/**
 * A consistent snapshot of all schemas. Its only locks are those of reads, which conflict only with
 * changes of table definitions.
 */
export interface Snapshot {
  takenAt: Date
  tables: DumpedTable[]
  sequences: DumpedSequence[]
  /** Names of the applied migrations by schema. */
  migrations: Record<string, string[]>
  /**
   * Reads the rows of a table in the text format of `copy`. Tables must be read one after another.
   * `rows` is valid at the end of the stream.
   */
  read(table: DumpedTable): { stream: Readable; rows: () => number }
  /** Reads the rows of a query of a schema in the same way. The query must be a constant. */
  select(schema: string, query: string): Readable
  close(): Promise<void>
}

/**
 * Thrown if a snapshot cannot be taken, because the schemas are in different databases, which have
 * no common point in time. Also thrown if it cannot be loaded, because the schema has other
 * migrations.
 */
export class SnapshotError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SnapshotError'
  }
}

/** Tables that record applied migrations. `migrate` fills them, so they are not dumped. */
const MIGRATION_TABLES = ['migration', 'common_migration']

/**
 * Takes a snapshot of the schemas, each through its own URL. All URLs must lead to the same
 * database, but may have different roles. The first connection exports its snapshot and the others
 * use it (`pg_export_snapshot`). The snapshot does not contain `omittedTables`, whose rows have no
 * meaning in another database.
 */
export async function takeSnapshot(urls: Readonly<Record<string, string>>, omittedTables: readonly string[] = []): Promise<Snapshot> {
  const clients = new Map<string, pg.Client>()
  const close = async () => {
    await Promise.allSettled([...new Set(clients.values())].map((client) => client.end()))
  }
  try {
    let exported: string | undefined
    let takenAt = new Date()
    for (const [schema, url] of Object.entries(urls)) {
      const client = await connectOnce(url)
      clients.set(schema, client)
      await client.query('begin isolation level repeatable read read only')
      await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
      if (exported === undefined) {
        const { rows } = await client.query<{ id: string; now: Date }>('select pg_export_snapshot() as id, clock_timestamp() as now')
        exported = rows[0]?.id ?? ''
        takenAt = rows[0]?.now ?? takenAt
      } else await useSnapshot(client, exported, schema)
    }
    const requireClient = (schema: string) => {
      const client = clients.get(schema)
      if (!client) throw new Error(`the snapshot has no schema ${schema}`)
      return client
    }
    const layouts = await Promise.all([...clients].map(([schema, client]) => readLayout(client, schema, omittedTables)))
    return {
      takenAt,
      tables: layouts.flatMap(({ tables }) => tables),
      sequences: layouts.flatMap(({ sequences }) => sequences),
      migrations: Object.fromEntries(layouts.map(({ schema, migrations }) => [schema, migrations])),
      read(table) {
        const stream = requireClient(table.schema).query(copyStreams.to(`copy ${copyTarget(table)} to stdout`))
        return { stream, rows: () => stream.rowCount }
      },
      select: (schema, query) => requireClient(schema).query(copyStreams.to(`copy (${query}) to stdout`)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function useSnapshot(client: pg.Client, exported: string, schema: string): Promise<void> {
  try {
    await client.query(`set transaction snapshot ${pg.escapeLiteral(exported)}`)
  } catch (error) {
    throw new SnapshotError(
      `the schema ${schema} is in a different database than the first. Back up such databases with their own tools, all at the same moment`,
      { cause: error },
    )
  }
}

/** Returns `schema.table (columns)` for `copy`. */
export function copyTarget({ schema, table, columns }: Pick<DumpedTable, 'schema' | 'table' | 'columns'>): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`
}

async function readLayout(client: pg.Client, schema: string, omittedTables: readonly string[]) {
  const tables = await client.query<{ table: string; columns: string[]; of: string | null; bound: string | null }>(
    `select c.relname as table, p.relname as of, pg_get_expr(c.relpartbound, c.oid) as bound,
       array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
         order by attnum) as columns
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
     where c.relnamespace = to_regnamespace($1) and c.relkind = 'r' and not c.relname = any($2) order by c.relname`,
    [schema, [...MIGRATION_TABLES, ...omittedTables]],
  )
  const sequences = await client.query<{ sequence: string; last: string | null }>(
    'select sequencename as sequence, last_value::text as last from pg_sequences where schemaname = $1 order by 1',
    [schema],
  )
  return {
    schema,
    tables: tables.rows.map(({ table, columns, of, bound }) => ({
      ...{ schema, table, columns },
      partition: of !== null && bound !== null ? { of, bound } : undefined,
    })),
    sequences: sequences.rows.filter(({ sequence }) => !/migration_id_seq$/.test(sequence)).map((row) => ({ schema, ...row })),
    migrations: await readMigrations(client, schema),
  }
}

/** Returns the names of the applied migrations of a schema, in order. */
export async function readMigrations(client: pg.Client, schema: string): Promise<string[]> {
  const names: string[] = []
  for (const table of MIGRATION_TABLES) {
    const { rows } = await client.query<{ name: string }>(`select name from ${pg.escapeIdentifier(schema)}.${table} order by name`)
    names.push(...rows.map(({ name }) => `${table}/${name}`))
  }
  return names
}
