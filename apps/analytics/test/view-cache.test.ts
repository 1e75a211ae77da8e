import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { toDay } from '../src/view/day.ts'
import type { StoredEvent } from '../src/view/event-row.ts'
import { mergeRound } from '../src/view/merge.ts'
import { batchViews } from '../src/view/view-batch.ts'
import { createViewCache } from '../src/view/view-cache.ts'
import { analyticsDatabase, buildEvent } from './test-analytics.ts'

let database: Awaited<ReturnType<typeof analyticsDatabase>>
beforeAll(async () => {
  database = await analyticsDatabase()
})
afterAll(() => database?.close())

const createStored = (videoId: string): StoredEvent => toStoredEvent({ ...buildEvent({ videoId, viewId: randomUUID() }), type: 1 }, by)
const by = { organisationId: '1', durationMs: 100_000, receivedMs: Date.now(), visitor: undefined }
const toBatch = (event: StoredEvent) => ({ lines: [toLine(event, toDay(event.atMs))], days: [toDay(event.atMs)] })
const findViews = async () => (await database.db.query<{ view_id: string }>('select view_id from view')).map(({ view_id }) => view_id)

test('for a batch id that another replica reused, the batch in the database counts, not the lost one', async () => {
  const [own, otherWriter] = [randomUUID(), randomUUID()]
  const viewCache = createViewCache({ writer: own })
  const [retained, lost, durable] = [createStored('1'), createStored('1'), createStored('1')]
  viewCache.add(await createEventStore(database.db, own).write(toBatch(retained)), [batchViews([retained])])
  // The failover lost an insert of this replica that had the same id.
  const batchId = await createEventStore(database.db, otherWriter).write(toBatch(durable))
  viewCache.add(batchId, [batchViews([lost])])
  expect(await mergeRound(database.db, { viewCache })).toBe(2)
  expect((await findViews()).toSorted()).toEqual([retained.viewId, durable.viewId].toSorted())
  expect(await reconcile(database.db)).toMatchObject({ differences: [], views: 2 })
})

test('a process merges the batches that it wrote from its cache, without reading them from the database', async () => {
  const writer = randomUUID()
  const viewCache = createViewCache({ writer })
  const [written, cached] = [createStored('2'), createStored('2')]
  viewCache.add(await createEventStore(database.db, writer).write(toBatch(written)), [batchViews([cached])])
  await mergeRound(database.db, { viewCache })
  expect(await findViews()).toContain(cached.viewId)
})
