import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import pg from 'pg'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Returns the path of PgBouncer, or undefined if it is not installed. */
export function pgbouncerPath(): string | undefined {
  return findProgram(['pgbouncer'], ['/usr/sbin'])
}

/** A PgBouncer in transaction mode. */
export interface TestPgBouncer {
  /** URL without user and password, with the database of the server. */
  url: string
  stop(): Promise<void>
}

/**
 * Starts a PgBouncer in front of a server that trusts all local users; requires `pgbouncerPath()`.
 * Each of the users has at most `poolSize` connections to the server. As in its default
 * configuration, it rejects connections with session settings.
 */
export async function startPgBouncer(
  serverUrl: string,
  { users, poolSize }: { users: readonly string[]; poolSize: number },
): Promise<TestPgBouncer> {
  const program = pgbouncerPath()
  if (program === undefined) throw new Error('there is no pgbouncer here')
  const server = new URL(serverUrl)
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-pgbouncer-'))
  const port = await freePort()
  await writeFile(join(folder, 'users.txt'), users.map((user) => `"${user}" ""\n`).join(''))
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 1000
`,
  )
  // PgBouncer does not run as root.
  await chmod(folder, 0o755)
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, [...asUser, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const url = `postgres://127.0.0.1:${port}${server.pathname}`
  const isListening = async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    const client = new pg.Client({ connectionString: url.replace('//', `//${users[0]}@`) })
    client.on('error', () => {})
    await client.connect()
    await client.end()
    return true
  }
  await waitFor(() => isListening().catch(() => false), { timeout: 20_000, describe: 'PgBouncer to accept connections' })
  return {
    url,
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
