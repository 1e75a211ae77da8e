import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initDatabase, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import pg from 'pg'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { waitFor } from './wait-for.ts'

/** Two real servers: a primary and an asynchronous standby. */
export interface PostgresPair {
  /** URL of the superuser on the current primary. */
  url: string
  /** Waits until the standby has received all changes, then stops replication. */
  cut(): Promise<void>
  /** Kills the primary and promotes the standby: writes after `cut` are lost. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-pair-'))
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const cleanups: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  const stop = async () => {
    for (const step of cleanups.splice(0).reverse()) await step()
  }
  try {
    const start = async (dir: string) => {
      const server = await startPostgres({ dir })
      cleanups.push(() => server.stop({ immediate: true }))
      return server
    }
    const openProxy = async (target: string) => {
      const proxy = await startFaultProxy(target)
      cleanups.push(proxy.close)
      return proxy
    }
    await initDatabase(first, { durable: false })
    // The server is stopped, so its files can be copied.
    await cp(first, second, { recursive: true, preserveTimestamps: true })
    const primary = await start(first)
    const replicationLink = await openProxy(`127.0.0.1:${primary.port}`)
    await writeFile(join(second, 'standby.signal'), '')
    await appendFile(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo(replicationLink)}'\n`)
    const standby = await start(second)
    const clientProxy = await openProxy(`127.0.0.1:${primary.port}`)
    return {
      url: `postgres://postgres@${clientProxy.address}/postgres`,
      async cut() {
        await waitForReplication(primary, standby)
        await replicationLink.close()
      },
      async failOver() {
        process.kill(primary.pid, 'SIGKILL')
        // Responses that its backends still send are dropped.
        clientProxy.target = `127.0.0.1:${standby.port}`
        clientProxy.drop()
        await withClient(standby, 'select pg_promote(true, 30) as value')
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function conninfo(link: FaultProxy): string {
  const [host, port] = link.address.split(':')
  return `host=${host} port=${port} user=postgres`
}

async function waitForReplication(primary: RunningPostgres, standby: RunningPostgres): Promise<void> {
  const written = await withClient(primary, 'select pg_current_wal_flush_lsn() as value')
  await waitFor(async () => (await withClient(standby, `select pg_last_wal_replay_lsn() >= '${written}' as value`)) === true, {
    timeout: 30_000,
    describe: `the standby to reach ${written}`,
  })
}

async function withClient(server: RunningPostgres, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query<{ value: unknown }>(statement)).rows[0]?.value
  } finally {
    await client.end()
  }
}
