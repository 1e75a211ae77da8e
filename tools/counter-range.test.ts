import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createTestDatabase } from '@vitascope/testing'
import pg from 'pg'
import { root } from './lib/run-command.ts'

/**
 * Sequences that end below 2^53 - 1, and columns of 32 bits or fewer that hold their numbers, each
 * with the reason why the numbers suffice.
 */
const NARROW: Readonly<Record<string, string>> = {
  'auth resource_acl_id_seq': 'one number for each route of the gateway; registration draws none for a known route',
  'auth resource.acl_id': 'numbers of resource_acl_id_seq',
  'auth api_key.acl_ids': 'numbers of resource_acl_id_seq',
  'catalogue organisation_encoding_format.profile_id': 'a number of the list of profiles in the code',
  'catalogue media_encoding_format.profile_id': 'a number of the list of profiles in the code',
  'catalogue job.profile_id': 'a number of the list of profiles in the code',
  'encoding tus_upload.fence': 'counts the requests of one upload, which expires after days',
}
/** Integers of up to 53 bits are exact in JavaScript. */
const SAFE_BITS = 53

const folders = ['apps', 'libs']
  .flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => ({ schema: name.replaceAll('-', '_'), folder: join(root, kind, name, 'migrations') })),
  )
  // Every schema has the tables of libs/postgres.
  .filter(({ schema, folder }) => schema !== 'postgres' && existsSync(folder))

test('sequences and the columns that hold their numbers allow 2^53 numbers', async () => {
  const narrow: string[] = []
  let sequences = 0
  for (const { schema, folder } of folders) {
    const counters = await findCounters(schema, folder)
    sequences += counters.sequences
    narrow.push(...counters.narrow.map((name) => `${schema} ${name}`))
  }
  expect(sequences).toBeGreaterThan(20)
  expect(narrow.sort()).toEqual(Object.keys(NARROW).sort())
})

async function findCounters(schema: string, migrations: string): Promise<{ sequences: number; narrow: string[] }> {
  const database = await createTestDatabase({ migrations, schema })
  const client = new pg.Client(database.url)
  await client.connect()
  try {
    const { rows: sequences } = await client.query<{ name: string; column: string; is_wide: boolean }>(
      `select s.sequencename as name, s.max_value >= 2::numeric ^ $2::int - 1 as is_wide,
         coalesce(a.attname, substring(s.sequencename from '[^_]+$')) as column
       from pg_sequences s
         left join pg_depend d on d.objid = format('%I.%I', s.schemaname, s.sequencename)::regclass and d.deptype in ('i', 'a') and d.refobjsubid > 0
         left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
       where s.schemaname = $1 and s.sequencename !~ 'migration_id_seq$'`,
      [schema, SAFE_BITS],
    )
    const { rows: columns } = await client.query<{ name: string }>(
      `select format('%s.%s', c.table_name, c.column_name) as name from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = $1 and t.table_type = 'BASE TABLE' and c.table_name !~ 'migration$'
         and c.udt_name in ('int2', 'int4', '_int2', '_int4') and (c.column_name = any($2) or c.column_name ~ '_ids?$')`,
      [schema, sequences.map(({ column }) => column)],
    )
    return {
      sequences: sequences.length,
      narrow: [...sequences.filter(({ is_wide }) => !is_wide), ...columns].map(({ name }) => name),
    }
  } finally {
    await client.end()
    await database.drop()
  }
}
