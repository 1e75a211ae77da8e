import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Db, deleteInBatches } from '@vitascope/postgres'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { createEventWriter } from '../src/event/event-writer.ts'
import { createRejectedCounter } from '../src/event/rejected-events.ts'
import { openSpool } from '../src/event/spool.ts'
import { analyticsRetention } from '../src/retention/retention.ts'
import { toDay } from '../src/view/day.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
  // Without the partitions for data from before partitioning, each week has its own partition.
  const oldPartitions = await fixture.db.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent in ('view'::regclass, 'viewer'::regclass) and inhrelid::regclass::text like '%before%'`,
  )
  for (const { name } of oldPartitions) await fixture.db.query(`drop table ${name}`)
})
afterAll(() => fixture.close())

const DAY = 86_400_000
const RETENTION_DAYS = 30
const now = Date.now()
const user = as('standard')
/** Runs one round of retention at the time `now`. */
async function removeOld(db: Db = fixture.db, limit = 2_000): Promise<void> {
  const { signal } = new AbortController()
  for (const { remove } of analyticsRetention(db, RETENTION_DAYS, () => now)) await deleteInBatches(remove, { limit, signal })
}
const ever = { dateStart: '', dateEnd: '9999-12-31' }
const rest = { pageSize: 0, pageToken: '', skip: 0 }

/** Stores an event as if it was received at its time, because the service rejects events that old. */
async function writePastEvent(videoId: string, viewId: string, daysAgo: number, viewer: string, durationMs = 100_000): Promise<void> {
  const atMs = Math.round(now - daysAgo * DAY)
  const quality = { startupMs: 100 * daysAgo, stalls: 1, stalledMs: 50, switches: 2, error: '' }
  const playerEvent = {
    ...buildEvent({ videoId, viewId, atMs, watched: [{ fromSeconds: 0, toSeconds: 10 + daysAgo }], language: 'en' }),
    type: 3,
    quality,
  }
  const event = toStoredEvent(playerEvent, {
    organisationId: '1',
    durationMs,
    receivedMs: atMs,
    visitor: Buffer.from(viewer.padEnd(8)).toString('hex'),
  })
  await createEventStore(fixture.db).write({ lines: [toLine(event, toDay(atMs))], days: [toDay(atMs)] })
}

/** Returns every report of a video and its organisation. */
async function allReports(videoId: string) {
  const requested = { organisationId: '1', period: ever }
  const ofVideo = { ...requested, videoId }
  const { reports, insights } = fixture
  const exported: string[] = []
  for await (const { data } of fixture.exports.exportDays(
    { ...requested, format: 'EXPORT_FORMAT_CSV', dimension: 'DIMENSION_UNSPECIFIED' },
    user,
  ))
    exported.push(String(data))
  return {
    exported,
    views: await reports.getViews({ ...requested, videoIds: [] }, user),
    days: await reports.listDays({ ...requested, ...rest, videoIds: [], detailed: true }, user),
    languages: await reports.listLanguages({ ...requested, videoId: '' }, user),
    videoLanguages: await reports.listLanguages(ofVideo, user),
    subtitles: await reports.listSubtitles(requested, user),
    videos: await reports.listVideos({ ...requested, ...rest, videoIds: [], languages: [], detailed: true, byViews: false }, user),
    video: await reports.getVideo(ofVideo, user),
    videoDays: await reports.listVideoDays({ ...ofVideo, ...rest }, user),
    durationViewed: await reports.getDurationViewed(ofVideo, user),
    heatmap: await insights.getHeatmap(ofVideo, user),
    viewers: await insights.listViewerDays({ ...ofVideo, ...rest }, user),
    quality: await insights.listQualityDays({ ...ofVideo, ...rest }, user),
    allQuality: await insights.listQualityDays({ ...requested, videoId: '', ...rest }, user),
  }
}
const viewIds = async () => new Set((await fixture.db.query<{ view_id: string }>('select view_id from view')).map((row) => row.view_id))

test('reports do not change when the events, views and viewers of old days are removed', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const [old, across, recentView] = [randomUUID(), randomUUID(), randomUUID()]
  await writePastEvent(videoId, old, 70, 'anna')
  await writePastEvent(videoId, old, 69.9, 'anna')
  await writePastEvent(videoId, randomUUID(), 70, 'bert')
  await writePastEvent(videoId, across, 32, 'anna')
  await writePastEvent(videoId, across, 28, 'anna')
  await writePastEvent(videoId, recentView, 1, 'carl')
  await fixture.settled()
  const before = await allReports(videoId)
  expect(before.views.counts).toMatchObject({ playerLoads: 4, videoPlays: 4 })

  await removeOld()
  expect(await viewIds()).toEqual(new Set([across, recentView]))
  const days = await fixture.db.query<{ day: string }>('select distinct day::text as day from event order by 1')
  expect(days.map(({ day }) => day)).toEqual([toDay(now - 28 * DAY), toDay(now - DAY)])
  // Weeks are removed whole.
  expect(await fixture.db.query('select 1 from viewer where day < $1', [toDay(now - (RETENTION_DAYS + 7) * DAY)])).toEqual([])
  expect(await allReports(videoId)).toEqual(before)
  // Days without events are not compared, nor are views that began on them.
  expect((await fixture.reconcile()).differences).toEqual([])

  // A view that began on a removed day stays the same view. A new view is counted in addition.
  await writePastEvent(videoId, across, 0.5, 'anna')
  await fixture.send([buildEvent({ videoId, viewId: randomUUID(), atMs: now })])
  await fixture.settled()
  const after = await allReports(videoId)
  expect(after.views.counts).toMatchObject({ playerLoads: 5, videoPlays: 5 })
  const counts = new Map(after.videoDays.days.map(({ day, counts: dayCounts }) => [day, dayCounts?.playerLoads]))
  expect(counts.get(toDay(now - 32 * DAY))).toBe(1)
  expect((await fixture.reconcile()).differences).toEqual([])
})

test('a view whose video was replaced is removed as a whole when its last part is old', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const [across, removedView] = [randomUUID(), randomUUID()]
  const firstDay = Math.floor(now / DAY) - RETENTION_DAYS
  /** Days since the start of the first partition of views that is kept. */
  const cut = now / DAY - (firstDay - ((firstDay - 4) % 28))
  const minutes = 1 / 1_440
  for (const [viewId, shift] of [
    [across, 0],
    [removedView, 10 * minutes],
  ] as const) {
    await writePastEvent(videoId, viewId, cut + shift + 2 * minutes, 'anna', 0)
    await writePastEvent(videoId, viewId, cut + shift + minutes, 'anna')
    await writePastEvent(videoId, viewId, cut + shift - 2 * minutes, 'anna', 60_000)
  }
  await fixture.settled()
  const before = await allReports(videoId)
  await removeOld()
  const parts = await fixture.db.query('select view_id, duration_ms from view where video_id = $1 order by duration_ms', [videoId])
  expect(parts).toEqual([0, 60_000, 100_000].map((duration_ms) => ({ view_id: across, duration_ms })))
  expect(await allReports(videoId)).toEqual(before)
  expect((await fixture.reconcile()).differences).toEqual([])

  // A viewer that continues the view adds no second play.
  await writePastEvent(videoId, across, 0.1, 'anna', 60_000)
  await fixture.settled()
  const { counts } = await fixture.reports.getVideo({ organisationId: '1', videoId, period: ever }, user)
  expect(counts).toEqual(before.video.counts)
  expect((await fixture.reconcile()).differences).toEqual([])
})

test('all parts of a view are removed in one transaction, for any batch size', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const views = [1, 2, 3, 4, 5].map(() => randomUUID())
  for (const viewId of views) for (const length of [0, 60_000, 100_000]) await writePastEvent(videoId, viewId, 70, 'bert', length)
  await fixture.settled()
  const whole: number[] = []
  const watched: Db = {
    ...fixture.db,
    transaction: async (change, signal) => {
      const response = await fixture.db.transaction(change, signal)
      const remainingRows = await fixture.db.query<{ view_id: string }>('select view_id from view where video_id = $1', [videoId])
      whole.push(...Array.from(Map.groupBy(remainingRows, (row) => row.view_id).values(), (parts) => parts.length))
      return response
    },
  }
  await removeOld(watched, 2)
  expect(new Set(whole)).toEqual(new Set([3]))
  expect(await fixture.db.query('select 1 from view where video_id = $1', [videoId])).toEqual([])
})

test('a day with uncounted events is kept until they are counted', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const viewId = randomUUID()
  const locked = fixture.db.transaction(async ({ query }) => {
    // No merge runs at the same time.
    await query(`select pg_advisory_xact_lock(hashtext('vitascope analytics merge'))`)
    await writePastEvent(videoId, viewId, 50, 'anna')
    const stored = await fixture.db.query('select 1 from event where view_id = $1', [viewId])
    expect(stored).toHaveLength(1)
    await dropOldDays()
    expect(await fixture.db.query('select 1 from event where view_id = $1', [viewId])).toHaveLength(1)
  })
  await locked
  await fixture.settled()
  await removeOld()
  expect(await fixture.db.query('select 1 from event where view_id = $1', [viewId])).toEqual([])
  expect((await fixture.reports.getVideo({ organisationId: '1', videoId, period: ever }, user)).counts).toMatchObject({ playerLoads: 1 })
})

test('spooled events older than the retention are rejected, and count no view twice', async () => {
  const videoId = fixture.catalogue.createVideo(100)
  const [expiredView, recentView] = [randomUUID(), randomUUID()]
  await writePastEvent(videoId, expiredView, RETENTION_DAYS + 30, 'anna')
  await fixture.settled()
  await removeOld()
  expect(await viewIds()).not.toContain(expiredView)

  const createStored = (viewId: string, daysAgo: number) => {
    const atMs = now - daysAgo * DAY
    const event = { ...buildEvent({ videoId, viewId, atMs }), type: 3 }
    return toStoredEvent(event, { organisationId: '1', durationMs: 100_000, receivedMs: atMs, visitor: undefined })
  }
  const events = [createStored(expiredView, RETENTION_DAYS + 2), createStored(expiredView, RETENTION_DAYS), createStored(recentView, 2)]
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-late-'))
  const spool = await openSpool({ folder, maxBytes: 1_000_000, log: testLog })
  await spool.append({ lines: events.map((event) => toLine(event, toDay(event.atMs))), days: events.map(({ atMs }) => toDay(atMs)) })
  const metrics = createMetrics('analytics')
  const store = createEventStore(fixture.db)
  const eventWriter = createEventWriter({
    store,
    spool,
    countRejected: createRejectedCounter(metrics),
    retentionDays: RETENTION_DAYS,
    log: testLog,
    metrics,
    now: () => now,
  })
  await eventWriter.drain()
  await spool.close()
  await rm(folder, { recursive: true })
  await fixture.settled()

  const { counts } = await fixture.reports.getVideo({ organisationId: '1', videoId, period: ever }, user)
  expect(counts).toMatchObject({ playerLoads: 2, videoPlays: 2 })
  expect(await viewIds()).not.toContain(expiredView)
  expect(await metrics.text()).toMatch(/vitascope_analytics_rejected_events_total\{.*reason="too_old".*\} 2/)
  expect((await fixture.reconcile()).differences).toEqual([])
})

/** The removal of views waits for a running merge, and is rejected when the wait takes too long. */
async function dropOldDays(): Promise<void> {
  await removeOld().catch((error: unknown) => expect(error).toMatchObject({ reason: 'DATABASE_BUSY' }))
}
