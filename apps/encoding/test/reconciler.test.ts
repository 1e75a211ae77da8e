import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { LeasedItem } from '@vitascope/queue'
import { testLog, waitFor } from '@vitascope/testing'
import { createReconciler, type Reconciler, type ReconcileTools } from '../src/reconcile/reconciler.ts'
import { type Surroundings, startSurroundings } from './service-under-test.ts'

const INTERVAL_MS = 50
let around: Surroundings
let reconciler: Reconciler

beforeAll(async () => {
  around = await startSurroundings()
})
afterEach(async () => {
  await reconciler.stop()
  await around.db.query('truncate job, chunk, segment, object_prefix, work_item')
})
afterAll(() => around.close())

async function unwantedPrefixes(names: readonly string[]): Promise<void> {
  await around.db.query(
    `insert into job (job_id, media_id, organisation_id, source_url, state, is_dropped) values (1, '1', '1', '', 'cancelled', true)
     on conflict do nothing`,
  )
  await around.db.query(
    `insert into object_prefix (prefix, job_id, fence, drop_time, next_sweep)
     select p, 1, n, now(), now() - interval '1 second' + n * interval '1 millisecond' from unnest($1::text[]) with ordinality as t (p, n)`,
    [names],
  )
}

/** A reconciler on the real database, whose queue reports one expired lease at each check. */
function start(deletePrefix: (prefix: string) => Promise<number>) {
  const rescued: string[] = []
  const expired: LeasedItem = { itemId: '7', fence: 3, key: 'job:1', kind: 'encode', group: '1', payload: {}, holder: 'w' }
  // Implements only what the reconciler calls.
  const tools = {
    db: around.db,
    queue: { expired: async () => [expired] },
    steps: { fault: async ({ itemId }: { itemId: string }) => Boolean(rescued.push(itemId)) },
    outbox: {},
    jobCommands: {},
    jobs: { checkSets: async () => ({ usedPrefixes: [] }) },
    storage: { ...around.storage, deletePrefix },
    log: testLog,
    intervalMs: INTERVAL_MS,
    lowPriorityMaxWaitSeconds: 3_600,
  } as unknown as ReconcileTools
  reconciler = createReconciler(tools)
  reconciler.start()
  return { rescued }
}

test('expired leases are released while a slow storage removes many objects', async () => {
  await unwantedPrefixes(Array.from({ length: 200 }, (_, n) => `media/1/${n}`))
  let removed = 0
  const { rescued } = start(async () => {
    await delay(INTERVAL_MS)
    return ++removed
  })
  await waitFor(() => rescued.length >= 2, { describe: 'two rescues' })
  expect(removed).toBeGreaterThan(0)
  expect(removed).toBeLessThan(200)
})

test('a prefix that cannot be removed does not block others', async () => {
  // More than one pass checks.
  await unwantedPrefixes([...Array.from({ length: 500 }, (_, n) => `media/1/bad-${n}`), 'media/1/good'])
  const requested: string[] = []
  start(async (prefix) => {
    requested.push(prefix)
    if (prefix.includes('bad')) throw new Error('cannot be removed')
    return 1
  })
  await waitFor(() => requested.includes('media/1/good'), { timeout: 20_000, describe: 'the prefix behind them' })
})
