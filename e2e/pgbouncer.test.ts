import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { initDatabase, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import { STATEFUL } from '@vitascope/platform'
import { pgbouncerPath, startPgBouncer, type TestPgBouncer, waitFor } from '@vitascope/testing'
import pg from 'pg'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

const withPgBouncer = pgbouncerPath() === undefined ? test.skip : test
/** Maximum number of connections of the pooler to the server, per service. */
const POOL_SIZE = 3

let folder: string
let server: RunningPostgres
let pooler: TestPgBouncer
let sources: SourceServer
let platform: TestPlatform
let databaseUrl: string
beforeAll(async () => {
  if (pgbouncerPath() === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  await initDatabase(join(folder, 'postgres'), { durable: false })
  server = await startPostgres({ dir: join(folder, 'postgres'), durable: false })
  databaseUrl = server.url.replace(/\/postgres$/, '/vitascope')
  await asAdministrator(server.url, 'create database vitascope')
  const users = STATEFUL.map((service) => `vitascope_${service}`)
  pooler = await startPgBouncer(databaseUrl, { users: ['postgres', ...users], poolSize: POOL_SIZE })
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform({ VITASCOPE_DATABASE_URL: databaseUrl, VITASCOPE_DATABASE_POOLER_URL: pooler.url })
}, 180_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await pooler?.stop()
  await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function asAdministrator<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

withPgBouncer(
  'behind PgBouncer in transaction mode a video is encoded, changed and measured, and keys are revoked',
  async () => {
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)
    expect((await waitUntilSettled(api, id)).status.status).toBe('ok')
    // A change is streamed to the gateway by LISTEN.
    expect((await platform.guest.get(`/video/${id}`)).status).toBe(200)
    expect((await platform.system.patch(`/video/${id}`, { enabled: 0 })).status).toBe(200)
    expect((await platform.guest.get(`/video/${id}`)).status).toBe(404)
    expect((await platform.system.patch(`/video/${id}`, { enabled: 1 })).status).toBe(200)
    // Many concurrent requests share the few connections of the pooler.
    for (let round = 0; round < 5; round++) {
      const reads = Array.from({ length: 40 }, () => api.get('/video?limit=20'))
      expect(new Set((await Promise.all(reads)).map(({ status }) => status))).toEqual(new Set([200]))
    }
    expect((await platform.system.delete(`/apikey/${tenant.key}`)).status).toBe(200)
    await waitFor(async () => (await api.get('/video')).status === 401, { timeout: 10_000, interval: 20 })
    const counts = await asAdministrator<{ role: string; count: number }>(
      databaseUrl,
      `select usename as role, count(*)::int as count from pg_stat_activity
       where usename like 'vitascope_%' and application_name not like '%listen%' group by 1 order by 1`,
    )
    expect(counts.map(({ role }) => role)).toEqual(STATEFUL.map((service) => `vitascope_${service}`).sort())
    // A service can have two more connections: the catalogue indexes captions on direct ones, because
    // these statements have a longer timeout.
    for (const { role, count } of counts) expect({ role, isBounded: count <= POOL_SIZE + 2 }).toEqual({ role, isBounded: true })
  },
  120_000,
)

withPgBouncer(
  'a service whose role lacks the settings is not ready, and names the statements to run',
  async () => {
    const role = 'vitascope_collaboration'
    await asAdministrator(databaseUrl, `alter role ${role} reset search_path`)
    const killed = platform.pid('collaboration') ?? 0
    process.kill(killed, 'SIGKILL')
    // New connections of the server have the changed settings.
    await asAdministrator(databaseUrl, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
    const isReported = () => platform.log().includes(`alter role ${role} set search_path = 'collaboration';`)
    await waitFor(isReported, { timeout: 30_000, describe: 'the report of the missing setting' })
    expect((await fetch(`${platform.url}/readyz`)).status).toBe(503)
    await asAdministrator(databaseUrl, `alter role ${role} set search_path = 'collaboration'`)
    await asAdministrator(databaseUrl, `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)
    await waitFor(async () => (await fetch(`${platform.url}/readyz`)).ok, { timeout: 30_000, describe: 'all services to be ready' })
  },
  120_000,
)
