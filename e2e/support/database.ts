import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { STATEFUL } from '@vitascope/platform'
import pg from 'pg'
import type { TestPlatform } from './test-platform.ts'

/** Opens the platform's database as superuser, to check stored data. */
export async function asSuperuser<T>(platform: TestPlatform, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const password = (await readFile(join(platform.dataDir, 'secrets', 'postgres-password'), 'utf8')).trim()
  // The fourth line of the pid file is the port (PostgreSQL, storage-file-layout).
  const port = (await readFile(join(platform.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[3]
  const client = new pg.Client({ host: '127.0.0.1', port: Number(port), user: 'postgres', password, database: 'vitascope' })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

/**
 * Creates a database on the server of a platform, with a login and a schema per service. Returns
 * the URLs by service.
 */
export function loginsIn(platform: TestPlatform, database: string): Promise<Record<string, string>> {
  return asSuperuser(platform, async (client) => {
    await client.query(`create database ${database}`)
    const databaseClient = new pg.Client({
      host: client.host,
      port: client.port,
      user: 'postgres',
      password: String(client.password),
      database,
    })
    await databaseClient.connect()
    const urls: Record<string, string> = {}
    for (const service of STATEFUL) {
      const role = `${database}_${service}`
      await databaseClient.query(`create role ${role} login password '${role}'`)
      await databaseClient.query(`create schema ${service} authorization ${role}`)
      await databaseClient.query(`grant create on database ${database} to ${role}`)
      urls[service] = `postgres://${role}:${role}@${client.host}:${client.port}/${database}`
    }
    await databaseClient.end()
    return urls
  })
}

/** Returns every row of every table of the services as text, by table. Leaves out tables whose name matches `except`. */
export function dump(platform: TestPlatform, except: RegExp = /^$/): Promise<Map<string, string>> {
  return asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
    )
    const names = rows.map(({ name }) => name).filter((name) => !except.test(name))
    // All tables in one statement. The names come from the system catalogue, which quotes them.
    const selects = names.map(
      (name) =>
        `select ${client.escapeLiteral(name)} as name, coalesce(string_agg(t::text, E'\\n' order by t::text), '') as lines from ${name} t`,
    )
    const { rows: tables } = await client.query<{ name: string; lines: string }>(selects.join(' union all '))
    return new Map(tables.map(({ name, lines }) => [name, lines]))
  })
}

/** Returns the SHA-256 hash of the rows of each table, by table. */
export async function fingerprint(platform: TestPlatform, except?: RegExp): Promise<Record<string, string>> {
  const tables = [...(await dump(platform, except))]
  return Object.fromEntries(tables.map(([name, lines]) => [name, createHash('sha256').update(lines).digest('hex')]))
}
