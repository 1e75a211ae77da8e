// Faults: C15
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, initDatabase, startPostgres } from '@vitascope/embedded-postgres'
import { openChannel, serviceCall } from '@vitascope/grpc'
import { type Db, migrate, openPostgres } from '@vitascope/postgres'
import { EventServiceService } from '@vitascope/proto/analytics/v1/event'
import { ReportServiceService } from '@vitascope/proto/analytics/v1/report'
import { isLongRun, recordFigure, testLog, waitFor } from '@vitascope/testing'
import { testKeyEnvironment, testPrincipals } from '@vitascope/testing/principal-keys'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { as, buildEvent, startCatalogue } from './test-analytics.ts'

/** The long tests run for ten minutes. */
const SECONDS = Number(process.env['VITASCOPE_CRASH_SECONDS'] ?? (isLongRun ? 600 : 15))
const SENDERS = 8
const EVENTS_PER_SECOND = 500
const EVENTS_PER_REQUEST = 10
/** Kills of the service right after a response. */
const ROUNDS = 5
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url))

let folder: string
let platform: Awaited<ReturnType<typeof startPlatform>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-event-crash-'))
  platform = await startPlatform()
}, 120_000)
afterAll(async () => {
  await platform?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}, 60_000)

/**
 * Starts the service as a separate process with its own database. Both can be killed and restart on
 * the same address.
 */
async function startPlatform() {
  const dir = join(folder, 'postgres')
  await initDatabase(dir, {})
  const [databasePort, port] = [await freePort(), await freePort()]
  let postgres = await startPostgres({ dir, port: databasePort })
  await migrate({ url: postgres.url, schema: 'analytics', folder: MIGRATIONS, log: testLog })
  const db = openPostgres({ url: postgres.url, schema: 'analytics', log: testLog })
  const catalogue = await startCatalogue()
  const start = () =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
      stdio: 'ignore',
      env: {
        ...process.env,
        VITASCOPE_ANALYTICS_LISTEN: `127.0.0.1:${port}`,
        VITASCOPE_ANALYTICS_DATABASE_URL: postgres.url,
        ...testKeyEnvironment('analytics'),
        VITASCOPE_CATALOGUE_ADDRESS: catalogue.address,
        VITASCOPE_ANALYTICS_SPOOL_DIR: join(folder, 'spool'),
      },
    })
  let service: ChildProcess = start()
  const channel = openChannel(`127.0.0.1:${port}`, { service: 'analytics', principals: testPrincipals() })
  return {
    db,
    catalogue,
    events: channel.client(EventServiceService),
    reports: channel.client(ReportServiceService),
    ready: () => waitFor(() => channel.ready(1_000), { timeout: 60_000, describe: 'the service' }),
    async killService() {
      const exited = once(service, 'exit')
      service.kill('SIGKILL')
      await exited
      service = start()
    },
    async killDatabase(downMs: number) {
      const { exited, pid } = postgres
      process.kill(pid ?? 0, 'SIGKILL')
      await exited
      await delay(downMs)
      // The backends of the killed server keep its shared memory until they exit.
      postgres = await waitFor(() => startPostgres({ dir, port: databasePort }), { timeout: 60_000, interval: 200, describe: 'PostgreSQL' })
    },
    async close() {
      channel.close()
      service.kill('SIGKILL')
      await db.close()
      await catalogue.stop()
      await postgres.stop({ immediate: true })
    },
  }
}

test(
  'acknowledged events are counted exactly once while the service and the database are killed repeatedly',
  async () => {
    await platform.ready()
    const videoIds = Array.from({ length: 20 }, () => platform.catalogue.createVideo(100))
    const sent = new Set<string>()
    const acknowledged = new Set<string>()
    const until = Date.now() + SECONDS * 1_000
    const kills = { service: 0, database: 0 }
    const send = async (nth: number) => {
      for (let round = 0; Date.now() < until; round++) {
        const began = Date.now()
        const events = Array.from({ length: EVENTS_PER_REQUEST }, () =>
          buildEvent({
            videoId: videoIds[(nth + round) % videoIds.length] ?? '',
            viewId: randomUUID(),
            watched: [{ fromSeconds: 0, toSeconds: round % 100 }],
          }),
        )
        for (const { viewId } of events) sent.add(viewId)
        // Some acknowledged events are sent again, and some unacknowledged events are not retried.
        for (let attempt = 0; attempt < 1 + (round % 3); attempt++) {
          const request = { events, userAgent: 'a browser', clientAddress: `192.0.2.${nth}` }
          const response = await platform.events.acceptEvents(request, serviceCall('gateway', 'r')).catch(() => undefined)
          if (response?.accepted === events.length) for (const { viewId } of events) acknowledged.add(viewId)
          else await delay(50)
        }
        await delay(Math.max(0, (1_000 * EVENTS_PER_REQUEST * SENDERS) / EVENTS_PER_SECOND - (Date.now() - began)))
      }
    }
    const nemesis = async () => {
      for (let round = 0; Date.now() < until; round++) {
        await delay(1_000 + Math.random() * 2_000)
        if (round % 2 === 0) {
          await platform.killDatabase(500 + Math.random() * 1_500)
          kills.database++
        } else {
          await platform.killService()
          kills.service++
        }
      }
    }
    await Promise.all([nemesis(), ...Array.from({ length: SENDERS }, (_, nth) => send(nth))])
    expect(kills.service > 0 && kills.database > 0).toBe(true)
    expect(acknowledged.size).toBeGreaterThan(0)

    await platform.ready()
    await waitFor(() => countedAll(platform.db, acknowledged), { timeout: 60_000, describe: 'acknowledged events to be counted' })
    const viewIds = (await platform.db.query<{ view_id: string }>('select view_id from view')).map((row) => row.view_id)
    const counted = new Set(viewIds)
    const lost = [...acknowledged].filter((id) => !counted.has(id)).length
    const killCount = kills.service + kills.database
    recordFigure('C15', `${killCount} kills of service and database, ${lost} of ${acknowledged.size} acknowledged events lost`)
    expect(viewIds.filter((id) => !sent.has(id))).toEqual([])
    const { counts } = await platform.reports.getViews({ organisationId: '1', period: undefined, videoIds: [] }, as('system'))
    expect(counts?.playerLoads).toBe(viewIds.length)
    expect(await reconcile(platform.db)).toMatchObject({ differences: [], views: viewIds.length })
  },
  (SECONDS + 180) * 1_000,
)

test('events are durable when their response arrives: none is lost if the service is killed at that moment', async () => {
  await platform.ready()
  const videoId = platform.catalogue.createVideo(100)
  const acknowledged = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const events = Array.from({ length: 100 }, () => buildEvent({ videoId, viewId: randomUUID() }))
    const request = { events, userAgent: 'a browser', clientAddress: '192.0.2.1' }
    // The first call after a restart may still use the connection of the killed process.
    const response = await waitFor(() => platform.events.acceptEvents(request, serviceCall('gateway', 'r')), { timeout: 20_000 })
    await platform.killService()
    expect(response.accepted).toBe(events.length)
    for (const { viewId } of events) acknowledged.add(viewId)
    await platform.ready()
  }
  await waitFor(() => countedAll(platform.db, acknowledged), { timeout: 20_000, describe: 'acknowledged events to be counted' })
}, 120_000)

/** Returns whether no batch is pending and every acknowledged view is stored. */
async function countedAll(db: Db, acknowledged: ReadonlySet<string>): Promise<boolean> {
  if ((await db.query('select 1 from pending_batch limit 1')).length > 0) return false
  const [row] = await db.query<{ missing: string }>(
    'select count(*) as missing from unnest($1::uuid[]) as sent (view_id) where not exists (select from view v where v.view_id = sent.view_id)',
    [[...acknowledged]],
  )
  return row?.missing === '0'
}
