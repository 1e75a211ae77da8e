import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createMetrics, type Logger } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { type Claim, createComparisonStore } from '../src/reconcile/comparison-store.ts'
import { createNightlyComparison, registerComparisonMetrics } from '../src/reconcile/nightly.ts'
import type { Reconciliation } from '../src/reconcile/reconcile.ts'
import { reconcileInChildProcess } from '../src/reconcile/reconcile-in-child-process.ts'
import { buildEvent, openFixture } from './test-analytics.ts'

const { signal } = new AbortController()
const RECONCILIATION: Reconciliation = { since: '2026-01-01', events: 3, views: 2, differences: [] }

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.db.query('delete from comparison'))

/** Creates the check that each replica runs per minute. `compare` replaces the comparison. */
function replica(compare: (signal: AbortSignal) => Promise<Reconciliation>, log: Logger = testLog) {
  const comparisons = createComparisonStore(fixture.db)
  const metrics = createMetrics('analytics')
  registerComparisonMetrics(comparisons, metrics)
  const readMetric = async (name: string) => {
    const [, value] = new RegExp(`^vitascope_analytics_${name}\\{.*\\} (.*)$`, 'm').exec(await metrics.text()) ?? []
    return value === undefined ? undefined : Number(value)
  }
  return { check: createNightlyComparison({ comparisons, compare, log }), readMetric }
}
const midnightPasses = () => fixture.db.query(`update comparison set compare_time = compare_time - interval '1 day'`)
const hourPasses = () => fixture.db.query(`update comparison set claim_time = claim_time - interval '61 minutes'`)

test('after midnight one replica compares once, and every replica exposes the result and its time', async () => {
  let runs = 0
  const ends: (() => void)[] = []
  const compare = async () => {
    runs++
    await new Promise<void>((resolve) => ends.push(resolve))
    return { ...RECONCILIATION, differences: [{ table: 'video_day', key: '1', counts: ['plays: 1, 2'] }] }
  }
  const [first, second] = [replica(compare), replica(compare)]
  expect(await first.readMetric('last_comparison_timestamp_seconds')).toBeUndefined()
  await first.check(signal)
  await second.check(signal)
  expect(runs).toBe(0)
  expect(await first.readMetric('count_differences')).toBe(0)

  await midnightPasses()
  const before = (await first.readMetric('last_comparison_timestamp_seconds')) ?? 0
  expect(Date.now() / 1_000 - before).toBeGreaterThan(80_000)
  const checks = [first, second, first].map(({ check }) => check(signal))
  await waitFor(() => ends.length === 1)
  expect(await second.readMetric('last_comparison_timestamp_seconds')).toBe(before)
  for (const end of ends) end()
  await Promise.all(checks)
  expect(runs).toBe(1)
  expect([await first.readMetric('count_differences'), await second.readMetric('count_differences')]).toEqual([1, 1])
  expect(Date.now() / 1_000 - ((await second.readMetric('last_comparison_timestamp_seconds')) ?? 0)).toBeLessThan(3_600)

  await first.check(signal)
  await second.check(signal)
  expect(runs).toBe(1)
})

test('a failed comparison is retried an hour later by any replica, and the last result remains visible', async () => {
  let runs = 0
  const failRun = () => {
    runs++
    return Promise.reject(new Error('the database is unavailable'))
  }
  const succeeds = () => {
    runs++
    return Promise.resolve(RECONCILIATION)
  }
  const [failing, healthy] = [replica(failRun), replica(succeeds)]
  await failing.check(signal)
  await midnightPasses()
  const before = await healthy.readMetric('last_comparison_timestamp_seconds')
  await expect(failing.check(signal)).rejects.toThrow('the database is unavailable')
  await healthy.check(signal)
  expect([runs, await healthy.readMetric('last_comparison_timestamp_seconds')]).toEqual([1, before])

  await hourPasses()
  await healthy.check(signal)
  expect(runs).toBe(2)
  expect(await failing.readMetric('last_comparison_timestamp_seconds')).toBeGreaterThan(before ?? 0)
})

test('a result is not saved if another replica has claimed the comparison in the meantime', async () => {
  const comparisons = createComparisonStore(fixture.db)
  await comparisons.claim()
  await midnightPasses()
  await comparisons.claim()
  await hourPasses()
  const [late] = await fixture.db.query<Claim>('select claim_time::text as time from comparison')
  const second = await comparisons.claim()
  if (!late || !second) throw new Error('no claim')
  await comparisons.save(late, 7)
  expect((await comparisons.last())?.differences).toBe(0)
  await comparisons.save(second, 3)
  expect((await comparisons.last())?.differences).toBe(3)
})

test('the comparison runs in a separate process and logs a difference as an error', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  await fixture.send([buildEvent({ videoId, viewId: randomUUID() })])
  await fixture.settled()
  const url = fixture.databaseUrl
  expect(await reconcileInChildProcess(url, signal)).toMatchObject({ events: 1, views: 1, differences: [] })

  await fixture.db.query('update video_day set plays = 5 where video_id = $1', [videoId])
  const errors: unknown[] = []
  const log = { error: (fields: unknown) => errors.push(fields) } as unknown as Logger
  const { check, readMetric } = replica((until) => reconcileInChildProcess(url, until), log)
  await check(signal)
  await midnightPasses()
  await check(signal)
  expect(await readMetric('count_differences')).toBe(1)
  expect(errors).toEqual([expect.objectContaining({ count: 1, differences: [expect.objectContaining({ table: 'video_day' })] })])
})

test('a comparison fails when its process exits without a result or is stopped', async () => {
  await expect(reconcileInChildProcess('postgres://127.0.0.1:1/none', signal)).rejects.toThrow('ended with 1')
  await expect(reconcileInChildProcess(fixture.databaseUrl, AbortSignal.abort(new Error('stopping')))).rejects.toThrow()
})
