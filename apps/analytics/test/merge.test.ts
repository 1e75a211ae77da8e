import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Db, Query, Transaction } from '@vitascope/postgres'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { reconcile } from '../src/reconcile/reconcile.ts'
import { toContribution } from '../src/view/contribution.ts'
import { toDay } from '../src/view/day.ts'
import { createMerger } from '../src/view/merge.ts'
import { addContribution, emptyRollUps } from '../src/view/roll-up.ts'
import { addRollUps } from '../src/view/roll-up-store.ts'
import { addEvent, EVENT_TYPE, emptyPart } from '../src/view/view.ts'
import { analyticsDatabase, buildEvent } from './test-analytics.ts'

let database: Awaited<ReturnType<typeof analyticsDatabase>>
beforeAll(async () => {
  database = await analyticsDatabase()
})
afterAll(() => database.close())

const now = Date.now()
const createView = (videoId: string) => {
  const by = { organisationId: '1', durationMs: 2_000, receivedMs: now, visitor: undefined }
  const watched = [{ fromSeconds: 0, toSeconds: 1 }]
  return toStoredEvent({ ...buildEvent({ videoId, viewId: randomUUID(), atMs: now, watched }), type: EVENT_TYPE.progress }, by)
}

/** Returns a database on which a round with more than `maxInserts` inserts times out. */
function slowDatabase(maxInserts: number): { db: Db; refused: () => number } {
  let refused = 0
  const slow =
    (query: Query): Query =>
    async <Row>(text: string, values?: readonly unknown[]) => {
      const rows = await query<Row>(text, values)
      if (!text.startsWith('delete from pending_batch') || rows.length <= maxInserts) return rows
      refused++
      throw new Error('canceling statement due to statement timeout')
    }
  const transaction: Db['transaction'] = (change, signal) =>
    database.db.transaction((tx: Transaction) => change({ ...tx, query: slow(tx.query) }), signal)
  return { db: { ...database.db, transaction }, refused: () => refused }
}

test('a round that times out is retried with fewer inserts, down to one, so that reports advance', async () => {
  const store = createEventStore(database.db)
  const inserts = 12
  for (let nth = 0; nth < inserts; nth++) {
    const views = [createView('7'), createView('8')]
    await store.write({ lines: views.map((event) => toLine(event, toDay(now))), days: [toDay(now)] })
  }
  const { db, refused } = slowDatabase(1)
  const merge = createMerger(db, { maxEvents: 16 })
  let counted = 0
  for (let round = 0; counted < 2 * inserts && round < 100; round++) counted += (await merge().catch(() => 0)) ?? 0
  expect([counted, refused() > 0]).toEqual([2 * inserts, true])
  expect(await reconcile(database.db)).toMatchObject({ events: 2 * inserts, differences: [] })
  const [day] = await database.db.query<{ plays: string }>('select plays from organisation_day')
  expect(day).toEqual({ plays: String(2 * inserts) })
})

test('the size of rounds grows back to the maximum when they succeed', async () => {
  const store = createEventStore(database.db)
  const requested: unknown[] = []
  let isUnavailable = true
  const db: Db = {
    ...database.db,
    transaction: (change, signal) =>
      database.db.transaction((tx) => {
        const query: Query = (text, values = []) => {
          if (!text.startsWith('delete from pending_batch')) return tx.query(text, values)
          requested.push(values[0])
          return isUnavailable ? Promise.reject(new Error('away')) : tx.query(text, values)
        }
        return change({ ...tx, query })
      }, signal),
  }
  await store.write({ lines: [toLine(createView('9'), toDay(now))], days: [toDay(now)] })
  const merge = createMerger(db, { maxEvents: 40 })
  for (let round = 0; round < 8; round++) await expect(merge()).rejects.toThrow('away')
  expect(requested).toEqual([40, 20, 10, 5, 2, 1, 1, 1])
  isUnavailable = false
  expect(await merge()).toBe(1)
  for (let round = 0; requested.at(-1) !== 40 && round < 100; round++) await merge()
  await merge()
  expect(requested.slice(-2)).toEqual([40, 40])
})

test('many rows of a table are written by several statements', async () => {
  const videos = 2_345
  const differences = emptyRollUps()
  for (let nth = 0; nth < videos; nth++) {
    const event = createView(String(1_000 + nth))
    const part = emptyPart(event)
    addEvent(part, event)
    addContribution(differences, toContribution(part), 1)
  }
  const most = new Map<string, number>()
  const query: Query = (text, values = []) => {
    const table = /^insert into (\w+)/.exec(text)?.[1] ?? ''
    const rows = (values[0] as unknown[]).length
    most.set(table, Math.max(most.get(table) ?? 0, rows))
    return database.db.query(text, values)
  }
  for (const _ of [1, 2]) await addRollUps(query, differences)
  for (const [table, rows] of most) expect([table, rows <= 1_000]).toEqual([table, true])
  expect([...most.keys()]).toEqual(expect.arrayContaining(['video_day', 'video_heat']))
  const [heat] = await database.db.query(
    'select count(*)::int as rows, sum(watched[1])::int as watched from video_heat where video_id >= 1000',
  )
  expect(heat).toEqual({ rows: videos, watched: 2 * videos })
})
