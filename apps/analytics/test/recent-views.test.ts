import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type KeptEvent, keep } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { createRecentViews } from '../src/event/recent-views.ts'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { dayOf } from '../src/view/contribution.ts'
import { gather } from '../src/view/gathered.ts'
import { mergeRound } from '../src/view/merge.ts'
import { analyticsDatabase, anEvent } from './test-analytics.ts'

let database: Awaited<ReturnType<typeof analyticsDatabase>>
beforeAll(async () => {
  database = await analyticsDatabase()
})
afterAll(() => database?.close())

const told = (videoId: string): KeptEvent => keep({ ...anEvent({ videoId, viewId: randomUUID() }), type: 1 }, by)
const by = { organisationId: '1', durationMs: 100_000, receivedMs: Date.now(), visitor: undefined }
const batchOf = (event: KeptEvent) => ({ lines: [toLine(event, dayOf(event.atMs))], days: [dayOf(event.atMs)] })
const viewsOf = async () => (await database.db.query<{ view_id: string }>('select view_id from view')).map(({ view_id }) => view_id)

test('a number that comes again from another replica counts what is in the database, and not what was lost', async () => {
  const [mine, theirs] = [randomUUID(), randomUUID()]
  const recent = createRecentViews({ writer: mine })
  const [kept, lost, durable] = [told('1'), told('1'), told('1')]
  recent.keep(await createEventStore(database.db, mine).write(batchOf(kept)), [gather([kept])])
  // The failover forgot the insert that had this number here.
  const batchId = await createEventStore(database.db, theirs).write(batchOf(durable))
  recent.keep(batchId, [gather([lost])])
  expect(await mergeRound(database.db, { recent })).toBe(2)
  expect((await viewsOf()).toSorted()).toEqual([kept.viewId, durable.viewId].toSorted())
  expect(await reconcile(database.db)).toMatchObject({ differences: [], views: 2 })
})

test('what a process wrote itself it need not read', async () => {
  const writer = randomUUID()
  const recent = createRecentViews({ writer })
  const [written, atHand] = [told('2'), told('2')]
  recent.keep(await createEventStore(database.db, writer).write(batchOf(written)), [gather([atHand])])
  await mergeRound(database.db, { recent })
  expect(await viewsOf()).toContain(atHand.viewId)
})
