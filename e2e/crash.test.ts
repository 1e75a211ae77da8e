// Faults: C1, C6, C7, C18
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isAlive, isLongRun, recordFigure, redisPath, type TestRedis, waitFor } from '@vitascope/testing'
import { crashRun, describeCrashRun } from './support/crash-run.ts'
import { kill, listFfmpegs } from './support/nemesis.ts'
import { orphanedObjects } from './support/orphaned-objects.ts'
import { redisRun, startWithRedis } from './support/redis-run.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import type { TwoGateways } from './support/two-gateways.ts'
import { readUploadedFiles } from './support/upload-methods.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

/** If this machine has no Redis, the other parts are still tested. */
const withRedis = redisPath() === undefined ? test.skip : test
const KILLING_SECONDS = isLongRun ? 30 : 15

let folder: string
let platform: TestPlatform
let shared: { redis: TestRedis; platform: TwoGateways } | undefined
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  for (const kind of ['small.mp4', 'other.mp4', 'good.mp4'] as const) await makeSource(folder, kind)
  shared = redisPath() === undefined ? undefined : await startWithRedis()
  platform = shared?.platform ?? (await startTestPlatform())
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await shared?.redis.stop()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const ready = () =>
  waitFor(async () => (await fetch(`${platform.url}/readyz`).catch(() => undefined))?.ok ?? false, {
    timeout: 20_000,
    describe: 'the platform to be ready',
  })

test.each(['auth', 'catalogue', 'encoding', 'collaboration', 'analytics', 'worker', 'delivery', 'gateway', 'postgres'])(
  'the platform recovers after %s is killed',
  async (name) => {
    await ready()
    const before = platform.pid(name)
    expect(kill(platform, name)).toBe(true)
    await waitFor(() => platform.pid(name) !== before && platform.pid(name) !== undefined, {
      timeout: 15_000,
      describe: `${name} to be started again`,
    })
    await ready()
    await waitFor(async () => (await platform.system.get('/organisation/1').catch(() => undefined))?.status === 200, {
      timeout: 10_000,
      describe: 'the API to respond',
    })
  },
  60_000,
)

test('ffmpeg ends with its worker, and the next worker completes the job', async () => {
  await ready()
  const { id } = await upload(platform.system, tenant.organisationId, `${sources.url}/good.mp4`)
  await waitFor(() => listFfmpegs(platform.pid('worker')).length > 0, {
    timeout: 30_000,
    interval: 20,
    describe: 'ffmpeg to run',
  })
  const running = listFfmpegs(platform.pid('worker'))
  expect(kill(platform, 'worker')).toBe(true)
  await waitFor(() => !running.some(isAlive), { timeout: 10_000, describe: 'ffmpeg to end' })
  expect((await waitUntilSettled(platform.system, id)).status.status).toBe('ok')
}, 120_000)

withRedis(
  'Redis killed, emptied and full: responses fail in the first second at most, no limit is lost and no write runs twice',
  async () => {
    if (!shared) throw new Error('the platform was started without Redis')
    await ready()
    const { id } = await upload(platform.system, tenant.organisationId, `${sources.url}/small.mp4`)
    // On an idle machine, the failures end within one second.
    const reports = await redisRun(shared.platform, shared.redis, { limitMs: 10_000, watchMs: 3_000, tenant, videoId: id })
    process.stderr.write(`redis run: ${JSON.stringify(reports)}\n`)
    const lastFailureMs = Math.round(Math.max(...reports.map((report) => report.lastFailureMs)))
    recordFigure('C18', `${reports.length} faults, last failed response ${lastFailureMs} ms after a fault began or ended`)
  },
  240_000,
)

test('an object without a row is detected in every folder', async () => {
  await ready()
  const strays = [`tus/${randomUUID()}/1-0`, `uploads/${tenant.organisationId}/stray.mp4`, 'media/1/1-1-abc/stray.mp4', 'stray']
  const paths = strays.map((name) => join(platform.dataDir, 'storage', name))
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'stray')
  }
  expect(await orphanedObjects(platform, [])).toEqual(expect.arrayContaining(strays))
  for (const path of paths) await rm(path, { force: true })
})

test(`uploads survive ${KILLING_SECONDS} s of kills: each ends, playable videos are complete, no objects are left`, async () => {
  const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)
  const report = await crashRun(platform, {
    seed,
    seconds: KILLING_SECONDS,
    tenant: await createTenant(platform.system),
    files: await readUploadedFiles(['small.mp4', 'other.mp4'], folder, sources),
    redis: shared?.redis,
    gateways: shared?.platform.gateways,
  }).catch((error: Error) => {
    throw new Error(`with seed ${seed}: ${error.message}\n${platform.log().slice(-20_000)}`, { cause: error })
  })
  process.stderr.write(`crash run: ${JSON.stringify(report)}\n`)
  recordFigure('C1', describeCrashRun(report))
  expect(Object.keys(report.states)).toEqual(['ok 2000'])
}, 480_000)
