import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createMetrics, type Logger } from '@vitascope/telemetry'
import { testLog, waitFor } from '@vitascope/testing'
import { type Claim, createComparisonStore } from '../src/reconcile/comparison-store.ts'
import { createNightly, watchComparisons } from '../src/reconcile/nightly.ts'
import type { Reconciliation } from '../src/reconcile/reconcile.ts'
import { reconcileApart } from '../src/reconcile/reconcile-apart.ts'
import { anEvent, openFixture } from './test-analytics.ts'

const { signal } = new AbortController()
const FOUND: Reconciliation = { since: '2026-01-01', events: 3, views: 2, differences: [] }

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.db.query('delete from comparison'))

/** The work of each replica per minute. `compare` replaces the comparison. */
function replica(compare: (signal: AbortSignal) => Promise<Reconciliation>, log: Logger = testLog) {
  const comparisons = createComparisonStore(fixture.db)
  const metrics = createMetrics('analytics')
  watchComparisons(comparisons, metrics)
  const shown = async (name: string) => {
    const [, figure] = new RegExp(`^vitascope_analytics_${name}\\{.*\\} (.*)$`, 'm').exec(await metrics.text()) ?? []
    return figure === undefined ? undefined : Number(figure)
  }
  return { look: createNightly({ comparisons, compare, log }), shown }
}
const midnightPasses = () => fixture.db.query(`update comparison set compare_time = compare_time - interval '1 day'`)
const hourPasses = () => fixture.db.query(`update comparison set claim_time = claim_time - interval '61 minutes'`)

test('after midnight one replica compares, once; all of them show what it found, and when', async () => {
  let runs = 0
  const ends: (() => void)[] = []
  const compare = async () => {
    runs++
    await new Promise<void>((resolve) => ends.push(resolve))
    return { ...FOUND, differences: [{ table: 'video_day', key: '1', counts: ['plays: 1, 2'] }] }
  }
  const [one, other] = [replica(compare), replica(compare)]
  expect(await one.shown('last_comparison_timestamp_seconds')).toBeUndefined()
  await one.look(signal)
  await other.look(signal)
  expect(runs).toBe(0)
  expect(await one.shown('count_differences')).toBe(0)

  await midnightPasses()
  const before = (await one.shown('last_comparison_timestamp_seconds')) ?? 0
  expect(Date.now() / 1_000 - before).toBeGreaterThan(80_000)
  const looks = [one, other, one].map(({ look }) => look(signal))
  await waitFor(() => ends.length === 1)
  expect(await other.shown('last_comparison_timestamp_seconds')).toBe(before)
  for (const end of ends) end()
  await Promise.all(looks)
  expect(runs).toBe(1)
  expect([await one.shown('count_differences'), await other.shown('count_differences')]).toEqual([1, 1])
  expect(Date.now() / 1_000 - ((await other.shown('last_comparison_timestamp_seconds')) ?? 0)).toBeLessThan(3_600)

  await one.look(signal)
  await other.look(signal)
  expect(runs).toBe(1)
})

test('a failed comparison is retried an hour later by any replica, and the last result remains visible', async () => {
  let runs = 0
  const fails = () => {
    runs++
    return Promise.reject(new Error('the database is away'))
  }
  const succeeds = () => {
    runs++
    return Promise.resolve(FOUND)
  }
  const [failing, healthy] = [replica(fails), replica(succeeds)]
  await failing.look(signal)
  await midnightPasses()
  const before = await healthy.shown('last_comparison_timestamp_seconds')
  await expect(failing.look(signal)).rejects.toThrow('the database is away')
  await healthy.look(signal)
  expect([runs, await healthy.shown('last_comparison_timestamp_seconds')]).toEqual([1, before])

  await hourPasses()
  await healthy.look(signal)
  expect(runs).toBe(2)
  expect(await failing.shown('last_comparison_timestamp_seconds')).toBeGreaterThan(before ?? 0)
})

test('the end of one whose place another has taken changes nothing', async () => {
  const comparisons = createComparisonStore(fixture.db)
  await comparisons.claim()
  await midnightPasses()
  await comparisons.claim()
  await hourPasses()
  const [late] = await fixture.db.query<Claim>('select claim_time::text as time from comparison')
  const second = await comparisons.claim()
  if (!late || !second) throw new Error('nothing to do')
  await comparisons.save(late, 7)
  expect((await comparisons.last())?.differences).toBe(0)
  await comparisons.save(second, 3)
  expect((await comparisons.last())?.differences).toBe(3)
})

test('it runs in a process of its own, and a difference is an error in the log', async () => {
  const videoId = fixture.catalogue.aVideo(100)
  await fixture.send([anEvent({ videoId, viewId: randomUUID() })])
  await fixture.settled()
  const url = fixture.databaseUrl
  expect(await reconcileApart(url, signal)).toMatchObject({ events: 1, views: 1, differences: [] })

  await fixture.db.query('update video_day set plays = 5 where video_id = $1', [videoId])
  const errors: unknown[] = []
  const log = { error: (what: unknown) => errors.push(what) } as unknown as Logger
  const { look, shown } = replica((until) => reconcileApart(url, until), log)
  await look(signal)
  await midnightPasses()
  await look(signal)
  expect(await shown('count_differences')).toBe(1)
  expect(errors).toEqual([expect.objectContaining({ count: 1, differences: [expect.objectContaining({ table: 'video_day' })] })])
})

test('a process that ends without an answer, or is to stop, is a failure', async () => {
  await expect(reconcileApart('postgres://127.0.0.1:1/none', signal)).rejects.toThrow('ended with 1')
  await expect(reconcileApart(fixture.databaseUrl, AbortSignal.abort(new Error('stopping')))).rejects.toThrow()
})
