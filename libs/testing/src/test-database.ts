import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { migrate } from '@vitascope/postgres'
import pg from 'pg'
import { testLog } from './test-log.ts'

/** The database of one test file. */
export interface TestDatabase {
  /** URL of a user with all rights in the database. */
  url: string
  /** Drops the database and closes its open connections. */
  drop(): Promise<void>
}

/**
 * Number of the advisory lock of the cluster: templates are created one after another, since migrations may create roles, which
 * all databases share.
 */
const TEMPLATE_LOCK = 7_246_001

/**
 * Creates a database with the migrations of a folder. It is a copy of a template, which the first caller creates.
 * Requires the cluster that `tools/jest-setup.mjs` starts for all tests.
 */
export async function createTestDatabase({ migrations, schema }: { migrations: string; schema: string }): Promise<TestDatabase> {
  const cluster = clusterUrl()
  const name = `test_${schema}_${randomBytes(6).toString('hex')}`
  await withClient(cluster, async (query) => {
    const template = await findOrCreateTemplate(query, cluster, migrations, schema)
    await query(`create database ${name} template ${template}`)
  })
  return {
    url: databaseUrl(cluster, name),
    drop: () => withClient(cluster, (query) => query(`drop database if exists ${name} with (force)`)).then(() => undefined),
  }
}

type Query = (sql: string, values?: unknown[]) => Promise<pg.QueryResult>

async function findOrCreateTemplate(query: Query, cluster: string, folder: string, schema: string): Promise<string> {
  const name = `template_${schema}_${contentHash(folder)}`
  await query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
  try {
    const { rowCount } = await query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) {
      // The template is renamed only when it is complete, so that a failed migration leaves no template for later
      // tests.
      await query(`drop database if exists ${name}_partial with (force)`)
      await query(`create database ${name}_partial`)
      await migrate({ url: databaseUrl(cluster, `${name}_partial`), schema, folder, log: testLog })
      await query(`alter database ${name}_partial rename to ${name}`)
    }
  } finally {
    await query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  }
  return name
}

/** Returns a hash of the folder's migrations and of the common ones that `migrate` applies before them. */
function contentHash(folder: string): string {
  const common = join(dirname(createRequire(import.meta.url).resolve('@vitascope/postgres')), '../migrations')
  const hash = createHash('sha256')
  for (const dir of [common, folder]) {
    for (const file of readdirSync(dir).sort())
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(dir, file)))
        .update('\0')
  }
  return hash.digest('hex').slice(0, 12)
}

async function withClient<T>(url: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work((sql, values) => client.query(sql, values))
  } finally {
    await client.end()
  }
}

function clusterUrl(): string {
  const url = process.env['VITASCOPE_TEST_DATABASE_URL']
  if (!url) throw new Error('there is no test database: run Jest with jest.config.mjs, whose globalSetup starts one')
  return url
}

function databaseUrl(cluster: string, name: string): string {
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return url.href
}
