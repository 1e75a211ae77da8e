import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { initDatabase } from './init-database.ts'
import { PostgresError } from './postgres-error.ts'
import { isAlive } from './postmaster-file.ts'
import { type RunningPostgres, type StartOptions, startPostgres } from './start-postgres.ts'

const password = "it's: a p@ss/word%"
const folder = mkdtempSync(join(tmpdir(), 'vitascope-postgres-'))
const dir = join(folder, 'data')
const running: RunningPostgres[] = []

beforeAll(async () => {
  expect(await initDatabase(dir, { password, durable: false })).toBe(true)
}, 60_000)
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop({ immediate: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(options: Partial<StartOptions> = {}): Promise<RunningPostgres> {
  const server = await startPostgres({ dir, password, ...options })
  running.push(server)
  return server
}

async function call(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  // A killed server ends its connections; the query reports that error.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end().catch(() => {})
  }
}

test('a folder that already contains a database is not changed', async () => {
  const created = statSync(join(dir, 'PG_VERSION')).mtimeMs
  expect(await initDatabase(dir, { password: 'another' })).toBe(false)
  expect(statSync(join(dir, 'PG_VERSION')).mtimeMs).toBe(created)
})

test('a folder that contains other files is rejected and not changed', async () => {
  const other = mkdtempSync(join(folder, 'other-'))
  writeFileSync(join(other, 'letter.txt'), 'dear reader')
  await expect(initDatabase(other)).rejects.toThrow('is not empty and contains no database')
  expect(readdirSync(other)).toEqual(['letter.txt'])
})

test('keeps its data over a restart, and listens on the configured port on loopback only', async () => {
  const first = await start()
  await call(first.url, 'create table kept as select 42 as answer')
  await first.stop()
  expect(isAlive(first.pid)).toBe(false)
  expect(existsSync(join(dir, 'postmaster.pid'))).toBe(false)

  const second = await start({ port: first.port })
  expect(second.port).toBe(first.port)
  expect(await call(second.url, 'select answer from kept')).toEqual([42])
  expect(await call(second.url, 'show listen_addresses')).toEqual(['127.0.0.1'])
  expect(await call(second.url, 'show unix_socket_directories')).toEqual([''])
})

test('writes are synced to the disk by default, and a connection requires the password', async () => {
  const server = await start()
  expect(await call(server.url, 'show fsync')).toEqual(['on'])
  expect(await call(server.url, 'show synchronous_commit')).toEqual(['on'])
  await expect(call(`postgres://postgres:wrong@127.0.0.1:${server.port}/postgres`, 'select 1')).rejects.toThrow(
    /password authentication failed/,
  )
  expect(await call(server.url, "select rolpassword like 'SCRAM-SHA-256$%' from pg_authid where rolname = 'postgres'")).toEqual([true])
  expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain(password)
})

test('after kill -9 of the server, the exit is reported, and the next start keeps every acknowledged row', async () => {
  const server = await start()
  await call(server.url, 'create table written (n int)')
  let acknowledged = 0
  const writing = (async () => {
    const client = new pg.Client(server.url)
    client.on('error', () => {})
    await client.connect()
    for (;;) {
      await client.query('insert into written values ($1)', [acknowledged + 1])
      acknowledged += 1
      if (acknowledged === 50) process.kill(server.pid, 'SIGKILL')
    }
  })()
  await expect(writing).rejects.toThrow()
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(existsSync(join(dir, 'postmaster.pid'))).toBe(true)

  const next = await start({ port: server.port })
  const [count] = await call(next.url, 'select count(*)::int from written')
  // One more row may have been written without an acknowledgement.
  expect([acknowledged, acknowledged + 1]).toContain(count)
}, 60_000)

test('backends that outlive a killed server are stopped before the next start', async () => {
  const server = await start()
  const busy = call(server.url, "select count(*) from generate_series(1, 1e12::bigint) as n where n::text = ''")
  const failed = expect(busy).rejects.toThrow()
  while (
    (await call(server.url, "select count(*)::int from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()"))[0] !== 1
  );
  process.kill(server.pid, 'SIGKILL')
  await server.exited
  const next = await start()
  expect(await call(next.url, 'select 1')).toEqual([1])
  await failed
}, 60_000)

test.each([
  ['of a process that has ended', () => spawnSync('true').pid],
  ['of a living process of another program', () => process.pid],
])('starts despite a stale postmaster.pid %s', async (_, getPid) => {
  const server = await start()
  const file = readFileSync(join(dir, 'postmaster.pid'), 'utf8')
  await server.stop({ immediate: true })
  writeFileSync(join(dir, 'postmaster.pid'), file.replace(/^\d+/, String(getPid())))
  const next = await start()
  expect(await call(next.url, 'select 1')).toEqual([1])
})

/** Starts the server from a separate process and returns both process ids. */
async function startElsewhere() {
  const script = `
    import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'start-postgres.ts'))}
    const server = await startPostgres(${JSON.stringify({ dir, password })})
    console.log(server.pid)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  return { child, postgres: Number(String(line)) }
}

test('a server is not stopped while the process that started it runs, and the error contains both process ids', async () => {
  const { child, postgres } = await startElsewhere()
  const refused = startPostgres({ dir, password })
  await expect(refused).rejects.toThrow(`${dir} is in use: process ${child.pid} runs PostgreSQL (process ${postgres}) on it`)
  await expect(refused).rejects.toMatchObject({ problem: 'DATA_IN_USE' })
  expect(isAlive(postgres)).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')

  // The process that started it has ended, so a new start takes over the folder.
  const server = await start()
  expect(server.pid).not.toBe(postgres)
  expect(isAlive(postgres)).toBe(false)
  expect(await call(server.url, 'select 1')).toEqual([1])
}, 60_000)

test('the error contains the port that is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  await expect(start({ port })).rejects.toMatchObject({
    problem: 'PORT_IN_USE',
    message: expect.stringContaining(`port ${port} of 127.0.0.1`),
  })
  other.close()
})

test('an aborted start leaves no running server', async () => {
  const log: string[] = []
  const stop = new AbortController()
  const starting = startPostgres({ dir, password, log: (line) => log.push(line) && stop.abort() }, stop.signal)
  await expect(starting).rejects.toThrow('aborted')
  expect(log.length).toBeGreaterThan(0)
  expect(existsSync(join(dir, 'postmaster.pid'))).toBe(false)
})

test('a folder that is not a database fails with the output of the server', async () => {
  const empty = mkdtempSync(join(folder, 'empty-'))
  const failed = startPostgres({ dir: empty })
  await expect(failed).rejects.toThrow(PostgresError)
  await expect(failed).rejects.toThrow(/postgresql\.conf|not a database|valid data directory/)
})
