// Faults: C16, C30, K6
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { freePort, type RunningPostgres, startPostgres } from '@vitascope/embedded-postgres'
import {
  createLogPrinter,
  type DataFolder,
  migrateAll,
  openDataFolder,
  readPlatformConfig,
  STATEFUL,
  startDatabase,
} from '@vitascope/platform'
import { isLongRun, recordFigure, seededRandom, waitFor } from '@vitascope/testing'
import { type Child, superviseChild } from '../src/child.ts'
import { planServices, type ServicePlan } from '../src/services.ts'

// Starts the processes like a cluster: independently, in any order, with a database that starts at any time.

const ORDERS = isLongRun ? 20 : 2
/** Time for which all processes run before the database starts. */
const DATABASE_DELAY_MS = isLongRun ? 20_000 : 3_000
/** Duration of the database outage while all processes run. */
const OUTAGE_MS = isLongRun ? 300_000 : 12_000
/** Maximum time from the first response of the database until all processes are ready. */
const READY_MS = 15_000
/** Maximum time from the start or end of an outage until the readiness probes report it. */
const DETECTION_MS = 10_000
const seed = Number(process.env['VITASCOPE_TEST_SEED'] ?? Date.now() % 1_000_000)

const printed: string[] = []
const print = createLogPrinter({ write: (text: string) => void printed.push(text) })
let dir: string
let folder: DataFolder
let plan: ServicePlan
let gateway: string
let database: { dir: string; port: number; password: string }
let server: RunningPostgres | undefined
let children: Child[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'vitascope-order-'))
  const config = readPlatformConfig({
    VITASCOPE_PORT: String(await freePort()),
    VITASCOPE_DATA_DIR: dir,
    VITASCOPE_SYSTEM_KEY: 'system-key-of-the-tests-0001',
  })
  gateway = `http://127.0.0.1:${config.port}`
  folder = await openDataFolder(config)
  const first = await startDatabase({ folder, databaseUrl: undefined, services: STATEFUL, print })
  const password = (await readFile(folder.secrets.postgresPassword, 'utf8')).trim()
  database = { dir: join(folder.path, 'postgres'), port: Number(new URL(first.urls['auth'] ?? '').port), password }
  plan = await planServices(config, folder, first.urls)
  await migrateAll(config, first.urls, print)
  await first.stop()
}, 120_000)
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
  await server?.stop()
  server = undefined
})
afterAll(async () => {
  await folder?.release()
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

const startServer = async () => {
  server = await startPostgres({ ...database, log: () => {} })
}
const stopServer = async () => {
  await server?.stop()
  server = undefined
}
/** Returns the log lines of processes that ended. */
const findExits = () => printed.filter((line) => / ended \(/.test(line))

/** Returns whether the probe of each process succeeds, by name. */
async function probe(path: '/healthz' | '/readyz'): Promise<Record<string, boolean>> {
  const metricsPages = plan.metrics.map((line) => line.split(' ') as [name: string, url: string])
  const results = metricsPages.map(async ([name, url]) => {
    const ok = await fetch(new URL(path, url), { signal: AbortSignal.timeout(5_000) }).then(
      (result) => result.ok,
      () => false,
    )
    return [name, ok] as const
  })
  return Object.fromEntries(await Promise.all(results))
}
const listNamesWithResult = (results: Record<string, boolean>, expected: boolean) =>
  Object.keys(results).filter((name) => results[name] === expected)
/** Returns whether all processes are ready, also the gateway at its public address. */
const areAllReady = async () => listNamesWithResult(await probe('/readyz'), false).length === 0 && (await fetch(`${gateway}/readyz`)).ok

/** Starts all processes in random order and returns their names in this order. Does not wait until they are ready. */
function startShuffled(random: () => number): string[] {
  const order = plan.services.map((spec) => ({ spec, at: random() })).sort((a, b) => a.at - b.at)
  children = order.map(({ spec }) => superviseChild(spec, print))
  return order.map(({ spec }) => spec.name)
}

test(`in ${ORDERS} start orders with a late database no process ends, and all become ready soon after it (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const durations: number[] = []
  for (let nth = 0; nth < ORDERS; nth++) {
    printed.length = 0
    const order = startShuffled(random)
    await waitFor(async () => listNamesWithResult(await probe('/healthz'), false).length === 0, {
      timeout: 60_000,
      describe: () => `all of ${order.join(', ')} to be alive without a database: ${printed.slice(-20).join('')}`,
    })
    await delay(DATABASE_DELAY_MS)
    expect(listNamesWithResult(await probe('/readyz'), true).filter((name) => STATEFUL.some((stateful) => stateful === name))).toEqual([])
    await startServer()
    const since = Date.now()
    await waitFor(areAllReady, {
      timeout: READY_MS,
      describe: () => `everything to be ready after ${order.join(', ')}: ${printed.slice(-20).join('')}`,
    })
    durations.push(Date.now() - since)
    expect([order, findExits()]).toEqual([order, []])
    await Promise.all(children.splice(0).map((child) => child.stop()))
    await stopServer()
  }
  recordFigure('C30', `${ORDERS} orders, all ready at most ${Math.max(...durations)} ms after the database`)
}, 1_800_000)

test(`a database outage makes all processes unready, ends none, and all become ready again after it`, async () => {
  printed.length = 0
  await startServer()
  startShuffled(seededRandom(seed))
  await waitFor(areAllReady, { timeout: 60_000, describe: () => `everything to be ready: ${printed.slice(-20).join('')}` })
  await stopServer()
  const stoppedAt = Date.now()
  const areStatefulUnready = async () => {
    const ready = listNamesWithResult(await probe('/readyz'), true)
    return !STATEFUL.some((name) => ready.includes(name)) && !(await fetch(`${gateway}/readyz`)).ok
  }
  await waitFor(areStatefulUnready, { timeout: DETECTION_MS, describe: 'the probes to report that the processes are not ready' })
  const unreadyMs = Date.now() - stoppedAt
  for (const until = stoppedAt + OUTAGE_MS; Date.now() < until; await delay(500)) {
    expect(listNamesWithResult(await probe('/healthz'), false)).toEqual([])
  }
  await startServer()
  const restartedAt = Date.now()
  await waitFor(areAllReady, { timeout: DETECTION_MS, describe: () => `everything to be ready again: ${printed.slice(-20).join('')}` })
  recordFigure('C16', `unready ${unreadyMs} ms after the stop, ready ${Date.now() - restartedAt} ms after the restart`)
  expect(findExits()).toEqual([])
}, 600_000)
