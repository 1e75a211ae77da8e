import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import type { LeasedItem } from '@vitascope/queue'
import { testLog, waitFor } from '@vitascope/testing'
import { createReconciler, type Reconciler, type ReconcileTools } from '../src/reconcile/reconciler.ts'
import { startTestEnvironment, type TestEnvironment } from './service-under-test.ts'

const INTERVAL_MS = 50
let environment: TestEnvironment
let reconciler: Reconciler

beforeAll(async () => {
  environment = await startTestEnvironment()
})
afterEach(async () => {
  await reconciler.stop()
  await environment.db.query('truncate job, chunk, segment, object_prefix, work_item')
})
afterAll(() => environment.close())

async function dropPrefixes(names: readonly string[]): Promise<void> {
  await environment.db.query(
    `insert into job (job_id, media_id, organisation_id, source_url, state, is_dropped) values (1, '1', '1', '', 'cancelled', true)
     on conflict do nothing`,
  )
  await environment.db.query(
    `insert into object_prefix (prefix, job_id, fence, drop_time, next_sweep)
     select p, 1, n, now(), now() - interval '1 second' + n * interval '1 millisecond' from unnest($1::text[]) with ordinality as t (p, n)`,
    [names],
  )
}

/** A reconciler on the real database, whose queue reports one expired lease at each check. */
function start(deletePrefix: (prefix: string) => Promise<number>) {
  const endedItems: string[] = []
  const expired: LeasedItem = {
    itemId: '7',
    fence: 3,
    key: 'job:1',
    kind: 'encode',
    group: '1',
    payload: {},
    holder: 'w',
    traceparent: undefined,
  }
  // Implements only what the reconciler calls.
  const tools = {
    db: environment.db,
    queue: { expired: async () => [expired] },
    steps: { fault: async ({ itemId }: { itemId: string }) => Boolean(endedItems.push(itemId)) },
    outbox: {},
    jobCommands: {},
    jobs: { checkSets: async () => ({ usedPrefixes: [] }) },
    storage: { ...environment.storage, deletePrefix },
    log: testLog,
    intervalMs: INTERVAL_MS,
    lowPriorityMaxWaitSeconds: 3_600,
  } as unknown as ReconcileTools
  reconciler = createReconciler(tools)
  reconciler.start()
  return { endedItems }
}

test('attempts with expired leases end while a slow storage removes many objects', async () => {
  await dropPrefixes(Array.from({ length: 200 }, (_, n) => `media/1/${n}`))
  let removed = 0
  const { endedItems } = start(async () => {
    await delay(INTERVAL_MS)
    return ++removed
  })
  await waitFor(() => endedItems.length >= 2, { describe: 'two ended attempts' })
  expect(removed).toBeGreaterThan(0)
  expect(removed).toBeLessThan(200)
})

test('a prefix that cannot be removed does not block others', async () => {
  // More prefixes than the reconciler checks in one pass.
  await dropPrefixes([...Array.from({ length: 500 }, (_, n) => `media/1/bad-${n}`), 'media/1/good'])
  const requested: string[] = []
  start(async (prefix) => {
    requested.push(prefix)
    if (prefix.includes('bad')) throw new Error('cannot be removed')
    return 1
  })
  await waitFor(() => requested.includes('media/1/good'), { timeout: 20_000, describe: 'the last prefix' })
})
