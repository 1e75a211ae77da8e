import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, initDatabase, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import pg from 'pg'
import { backoff } from './backoff.ts'
import type { DataFolder } from './data-folder.ts'
import type { LogPrinter } from './log-printer.ts'

/** The database, which is restarted when it ends, and the logins of the services. */
export interface Database {
  /** Database URL per service, with a role of its own. The schema is named after the service. */
  urls: Record<string, string>
  /** Process id of the embedded server, for crash tests. Undefined for an external database. */
  pid(): number | undefined
  stop(): Promise<void>
}

/** Returns the names and values of the settings of a service's role. */
export type RoleSettings = (service: string) => readonly (readonly [name: string, value: string])[]

/** Starts the embedded server, or uses the external one, and creates the logins and schemas of the services. */
export async function startDatabase(options: {
  folder: DataFolder
  databaseUrl: string | undefined
  /** Returns the settings of a service's role. Only needed if services connect through a transaction pooler. */
  roleSettings?: RoleSettings | undefined
  services: readonly string[]
  print: LogPrinter
}): Promise<Database> {
  const { folder, databaseUrl, roleSettings, services, print } = options
  if (databaseUrl !== undefined) {
    return { urls: await prepareLogins(databaseUrl, services, roleSettings), pid: () => undefined, stop: async () => {} }
  }
  const server = await keepPostgresRunning(folder, print)
  await createDatabase(server.url)
  const urls = await prepareLogins(server.url.replace(/\/postgres$/, '/vitascope'), services)
  return { urls, pid: server.pid, stop: server.stop }
}

/**
 * Starts the embedded server and restarts it after each crash, always on the port that the services
 * use.
 */
async function keepPostgresRunning(folder: DataFolder, print: LogPrinter) {
  const dir = join(folder.path, 'postgres')
  const password = (await readFile(folder.secrets.postgresPassword, 'utf8')).trim()
  if (await initDatabase(dir, { password })) print.own('info', 'created a new database')
  const port = await freePort()
  const start = () => startPostgres({ dir, port, password, log: (line) => logLine(print, line) })
  const stopping = new AbortController()
  let server: RunningPostgres = await start()
  const watch = async () => {
    for (let crashes = 0; ; ) {
      const startTime = Date.now()
      const { code, signal } = await server.exited
      if (stopping.signal.aborted) return
      crashes = Date.now() - startTime > 30_000 ? 1 : crashes + 1
      print.own('error', `PostgreSQL ended (${signal ?? `exit ${code}`}): restarting it`)
      for (;;) {
        await backoff(crashes, stopping.signal)
        if (stopping.signal.aborted) return
        try {
          server = await start()
          // `stop` was called during the start. It stopped only the previous server.
          if (stopping.signal.aborted) return server.stop()
          break
        } catch (error) {
          crashes++
          print.own('error', `PostgreSQL did not start: ${(error as Error).message}`)
        }
      }
    }
  }
  const watching = watch()
  return {
    url: server.url,
    pid: () => server.pid,
    stop: async () => {
      stopping.abort()
      await server.stop()
      await watching
    },
  }
}

/**
 * Creates a role and a schema for each service, with a new password per start. Other roles have no
 * access to the schema.
 */
async function prepareLogins(url: string, services: readonly string[], roleSettings?: RoleSettings): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const urls: Record<string, string> = {}
    for (const service of services) {
      const role = `vitascope_${service}`
      const password = randomBytes(24).toString('base64url')
      const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role])
      // Utility statements take no parameters. The names are constants of this program, and the
      // password is base64url.
      await client.query(`${rowCount === 0 ? 'create' : 'alter'} role ${role} login password '${password}'`)
      await client.query(`grant ${role} to current_user`)
      for (const [setting, value] of roleSettings?.(service) ?? []) await client.query(`alter role ${role} set ${setting} = '${value}'`)
      await client.query(`create schema if not exists ${service} authorization ${role}`)
      const { rows } = await client.query<{ name: string }>('select quote_ident(current_database()) as name')
      await client.query(`grant create on database ${rows[0]?.name} to ${role}`)
      const login = new URL(url)
      login.username = role
      login.password = password
      urls[service] = login.href
    }
    return urls
  } finally {
    await client.end()
  }
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query(`select 1 from pg_database where datname = 'vitascope'`)
    if (rowCount === 0) await client.query('create database vitascope')
  } finally {
    await client.end()
  }
}

/** Messages of migrations that wait for each other. They are not logged, because migrations retry and log their failures. */
const LOCK_WAIT = /lock timeout|you don't own a lock/

/** Logs errors and warnings of the server. */
function logLine(print: LogPrinter, line: string): void {
  if (/^(ERROR|FATAL|PANIC|WARNING):/.test(line) && !LOCK_WAIT.test(line)) print.own('warn', `postgres: ${line}`)
}
