// Faults: C16
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { extendTimeout, isLongRun, recordFigure, waitFor } from '@vitascope/testing'
import { asSuperuser } from './support/database.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type UploadResponse, waitUntilSettled } from './support/video-steps.ts'

const SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'worker', 'delivery', 'gateway']
/** Maximum time from the signal to PostgreSQL until PostgreSQL responds again. */
const MAX_RESTART_MS = 15_000
/** Maximum time from the end of an outage until the last rejection. */
const SETTLE_MS = 5_000
/** Time between two terminations of all connections. */
const EVERY_MS = 3_000
const SECONDS = isLongRun ? 30 : 9

let folder: string
let platform: TestPlatform
let sources: SourceServer
let organisationId: string
let calls: ReturnType<typeof callers>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  // A task whose lease response was lost is leased again after the lease expires, which must not
  // take 30 s here.
  platform = await startTestPlatform({ VITASCOPE_LEASE_MS: '6000', VITASCOPE_WORKER_HEARTBEAT_MS: '1000' })
  organisationId = (await createTenant(platform.system)).organisationId
}, 120_000)
afterEach(() => calls?.stop())
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const isGood = (status: number) => status === 200 || status === 201
const pids = () => SERVICES.map((name) => `${name} ${platform.pid(name)}`)
const databaseResponds = () => asSuperuser(platform, (client) => client.query('select 1')).then(() => true)

/** Writes and reads without a pause until stopped. Records acknowledged writes, and the time and error of rejections. */
function callers() {
  let stopped = false
  const created: { organisation_id: string; name: string }[] = []
  const rejections: { at: number; status: number; name: string }[] = []
  /** Number of consecutive successful responses per kind of call. */
  const inARow = new Map<string, number>()
  const callRepeatedly = async (name: string, call: (n: number) => Promise<{ status: number }>) => {
    for (let n = 0; !stopped; n++) {
      const { status } = await call(n)
      inARow.set(name, isGood(status) ? (inARow.get(name) ?? 0) + 1 : 0)
      if (!isGood(status)) rejections.push({ at: Date.now(), status, name })
      await delay(20)
    }
  }
  const write = async (n: number) => {
    const name = `Outage ${n} ${Math.random().toString(36).slice(2)}`
    const result = await platform.system.post<{ organisation_id: string }>('/organisation', { name })
    if (isGood(result.status)) created.push({ organisation_id: result.body.organisation_id, name })
    return result
  }
  const running = [
    callRepeatedly('POST /organisation', write),
    callRepeatedly('GET /video', () => platform.system.get(`/video?organisation_id=${organisationId}`)),
    callRepeatedly('GET /organisation', () => platform.system.get(`/organisation/${organisationId}`)),
  ]
  return {
    created,
    rejections,
    /** Waits until every kind of call has succeeded this many times in a row from now on. */
    async waitForSuccesses(times: number) {
      inARow.clear()
      await waitFor(() => running.length === inARow.size && [...inARow.values()].every((count) => count >= times), {
        timeout: 4 * SETTLE_MS,
        describe: () => `${times} successful responses in a row, after ${JSON.stringify(rejections.slice(-5))}`,
      })
    },
    async stop() {
      stopped = true
      await Promise.all(running)
    },
  }
}

/**
 * Checks that acknowledged writes exist, and that calls were only rejected as unavailable, until
 * shortly after the outage.
 */
async function expectNothingLost(outageEnd: number): Promise<void> {
  const late = calls.rejections.filter(({ at }) => at > outageEnd + SETTLE_MS)
  expect(late).toEqual([])
  expect(calls.rejections.filter(({ status }) => status !== 503)).toEqual([])
  expect(calls.created.length).toBeGreaterThan(0)
  const stored = await asSuperuser(platform, async (client) => {
    const { rows } = await client.query<{ name: string }>('select organisation_id || name as name from auth.organisation')
    return new Set(rows.map(({ name }) => name))
  })
  expect(calls.created.filter(({ organisation_id, name }) => !stored.has(organisation_id + name))).toEqual([])
}

async function accept(name: string): Promise<UploadResponse> {
  const payload = { url: `${sources.url}/small.mp4`, organisation_id: organisationId, name }
  return waitFor(
    async () => {
      const result = await platform.system.post<UploadResponse>('/video/upload', payload, { 'idempotency-key': name })
      return isGood(result.status) ? result.body : undefined
    },
    { timeout: 30_000, describe: `upload ${name} to be acknowledged` },
  )
}

test.each([
  ['killed', 'SIGKILL'],
  ['stopped in immediate mode', 'SIGQUIT'],
] as const)(
  'a PostgreSQL that is %s is restarted, and no acknowledged write is lost',
  async (signalName, signal) => {
    const before = pids()
    const upload = await accept(`before it was ${signalName}`)
    calls = callers()
    await calls.waitForSuccesses(3)
    const pid = platform.pid('postgres') ?? 0
    const began = Date.now()
    process.kill(pid, signal)
    await waitFor(() => platform.pid('postgres') !== pid && databaseResponds(), {
      timeout: 10 * MAX_RESTART_MS,
      describe: 'PostgreSQL to respond again',
    })
    const back = Date.now()
    await calls.waitForSuccesses(20)
    await calls.stop()
    recordFigure('C16', `PostgreSQL ${signalName}: first response ${((back - began) / 1_000).toFixed(1)} s later`)
    expect(back - began).toBeLessThan(extendTimeout(MAX_RESTART_MS))
    await expectNothingLost(back)
    expect((await waitUntilSettled(platform.system, upload.id)).status.status).toBe('ok')
    expect(pids()).toEqual(before)
  },
  60_000,
)

test(`terminating connections every ${EVERY_MS / 1_000} s for ${SECONDS} s ends no process and loses no acknowledged write`, async () => {
  const before = pids()
  calls = callers()
  await calls.waitForSuccesses(3)
  const uploads: UploadResponse[] = []
  let ended = 0
  let last = Date.now()
  for (let round = 0; round < (SECONDS * 1_000) / EVERY_MS; round++) {
    uploads.push(await accept(`round ${round}`))
    await waitFor(() => Date.now() >= last + EVERY_MS, { timeout: 2 * EVERY_MS })
    const { rowCount } = await asSuperuser(platform, (client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      ),
    )
    ended += rowCount ?? 0
    last = Date.now()
  }
  expect(ended).toBeGreaterThan(0)
  await calls.waitForSuccesses(20)
  await calls.stop()
  await expectNothingLost(last)
  for (const { id } of uploads) expect((await waitUntilSettled(platform.system, id)).status.status).toBe('ok')
  expect(pids()).toEqual(before)
}, 120_000)
