import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Event } from '@vitascope/proto/analytics/v1/event'
import { seededRandom } from '@vitascope/testing'
import fc from 'fast-check'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { EVENT_TYPE } from '../src/view/view.ts'
import {
  byDay,
  computeAverages,
  computeBuckets,
  computeHeat,
  computeQuality,
  computeWatchedParts,
  countViewers,
  countViews,
  type ModelView,
  toDay,
} from './analytics-model.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture({ replicas: 2 })
})
afterAll(() => fixture.close())

const DURATIONS = [12.48, 100, 1_000, 3_725.5]
/**
 * A view is live for 60 s after its last event. Live views are checked only while all of them must
 * still be live.
 */
const LIVE_MS = 50_000
const RUNS = Number(process.env['VITASCOPE_COUNT_RUNS'] ?? 12)

/** A point of the video, often one next to a boundary of the counts. */
const point = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.constantFrom(0, 49, 50, 51, 99, 100, 101, 949, 950, 951, 1_000))
const interval = fc.tuple(point, point).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
const viewArbitrary = fc.record({
  video: fc.integer({ min: 0, max: DURATIONS.length - 1 }),
  viewer: fc.integer({ min: 1, max: 4 }),
  // Up to 20 hours ago, so that some began yesterday.
  agoMs: fc.integer({ min: 100_000, max: 20 * 3_600_000 }),
  pace: fc.integer({ min: 1, max: 10_000 }),
  outcome: fc.constantFrom('loaded', 'played', 'played', 'played', 'ended'),
  watched: fc.array(interval, { maxLength: 5 }),
  rewatched: fc.array(interval, { maxLength: 2 }),
  language: fc.constantFrom('', 'en', 'de'),
  subtitle: fc.constantFrom('', 'fr'),
  referrer: fc.constantFrom('', 'example.com', 'example.org'),
  quality: fc.option(
    fc.record({
      startupMs: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: undefined }),
      stalls: fc.integer({ min: 0, max: 3 }),
      stalledMs: fc.integer({ min: 0, max: 5_000 }),
      switches: fc.integer({ min: 0, max: 4 }),
      error: fc.constantFrom('', 'network'),
    }),
    { nil: undefined },
  ),
  /** The length of a video is unknown, then known, then changed or unknown again. It changes between events. */
  length: fc.option(
    fc.record({ known: fc.nat(), turns: fc.nat(), into: fc.constantFrom(0, 0.5, 2), resendMask: fc.integer({ min: 0, max: 511 }) }),
    { nil: undefined },
  ),
})
const plan = fc.record({ views: fc.array(viewArbitrary, { minLength: 1, maxLength: 14 }), seed: fc.integer({ min: 1, max: 1e9 }) })
type RandomView = typeof viewArbitrary extends fc.Arbitrary<infer T> ? T : never

const ms = (seconds: number) => Math.round(seconds * 1000) / 1000

/**
 * `lengths[n]` are the lengths of the video with which event `n` is stored, one event for each. If
 * undefined, the events are sent to the service, which knows the length.
 */
interface PlannedView {
  view: ModelView
  events: Event[]
  lengths: (readonly number[])[] | undefined
}

/** Returns a view and the events of its player: each watched interval and, at the end, all of them again. */
function planView(drawn: RandomView, nth: number, videoIds: readonly string[], now: number): PlannedView {
  const duration = DURATIONS[drawn.video] ?? 1
  const videoId = videoIds[drawn.video] ?? ''
  const viewId = crypto.randomUUID()
  const played = drawn.outcome !== 'loaded'
  const scale = (parts: RandomView['watched']) =>
    parts.map(([from, to]) => [ms((from * duration) / 1_000), ms((to * duration) / 1_000)] as const)
  const [watched, rewatched] = played ? [scale(drawn.watched), scale(drawn.rewatched)] : [[], []]
  const startMs = now - drawn.agoMs
  const toStepMs = (step: number) => Math.min(startMs + step * drawn.pace, now)
  const spans = (parts: typeof watched) => parts.map(([fromSeconds, toSeconds]) => ({ fromSeconds, toSeconds }))
  const base = { videoId, viewId, language: drawn.language, subtitle: nth % 2 === 0 ? drawn.subtitle : '', referrer: drawn.referrer }
  const events = [buildEvent({ ...base, type: 'EVENT_TYPE_LOAD', atMs: toStepMs(0) })]
  if (played) {
    events.push(buildEvent({ ...base, type: 'EVENT_TYPE_PLAY', atMs: toStepMs(1) }))
    for (const [step, part] of watched.entries()) {
      events.push(
        buildEvent({ ...base, type: 'EVENT_TYPE_PROGRESS', atMs: toStepMs(2 + step), positionSeconds: part[1], watched: spans([part]) }),
      )
    }
    events.push(
      buildEvent({
        ...base,
        type: drawn.outcome === 'ended' ? 'EVENT_TYPE_ENDED' : 'EVENT_TYPE_PROGRESS',
        atMs: toStepMs(9),
        watched: spans(watched),
        rewatched: spans(rewatched),
        subtitle: drawn.subtitle,
      }),
    )
  }
  const { quality } = drawn
  if (quality) {
    // Measurements accumulate, so an earlier event has smaller values.
    events.push(
      buildEvent({
        ...base,
        type: 'EVENT_TYPE_LOAD',
        atMs: toStepMs(3),
        quality: { ...quality, stalls: 0, stalledMs: 0, switches: 0, error: '' },
      }),
    )
    events.push(buildEvent({ ...base, type: 'EVENT_TYPE_LOAD', atMs: toStepMs(5), quality }))
  }
  const view = {
    ...{ viewId, videoId, duration, startMs, played, watched, rewatched, language: drawn.language, quality },
    subtitle: played || nth % 2 === 0 ? drawn.subtitle : '',
    viewer: `192.0.2.${drawn.viewer}`,
    device: toDevice(drawn.viewer),
    referrer: drawn.referrer,
    ended: drawn.outcome === 'ended',
    playedMs: events.filter(({ type }) => type !== 'EVENT_TYPE_LOAD').map(({ atMs }) => atMs),
  }
  if (!drawn.length) return { view, events, lengths: undefined }
  const lengths = computeLengths(events, duration, drawn.length)
  const received = events.flatMap(({ type, watched: seen, rewatched: repeated }, place) =>
    (lengths[place] ?? []).map((length) => ({
      ...{ duration: length, ended: type === 'EVENT_TYPE_ENDED' },
      ...{ watched: toPairs(seen), rewatched: toPairs(repeated) },
    })),
  )
  return { view: { ...view, viewer: `10.0.0.${drawn.viewer}`, ...computeWatchedParts(duration, received) }, events, lengths }
}

const toPairs = (spans: Event['watched']) => spans.map(({ fromSeconds, toSeconds }) => [fromSeconds, toSeconds] as const)

/** A user agent of each device. */
const USER_AGENTS: Record<string, string> = {
  phone: 'Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0',
  tv: 'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  other: 'a browser',
}
const toDevice = (viewer: number) => ['other', 'phone', 'tv'][viewer % 3] ?? ''

/** Returns the lengths for each event. Events of the same time have the same lengths. */
function computeLengths(
  events: readonly Event[],
  duration: number,
  { known, turns, into, resendMask }: NonNullable<RandomView['length']>,
): number[][] {
  const moments = [...new Set(events.map(({ atMs }) => atMs))].sort((a, b) => a - b)
  const from = known % moments.length
  const to = from + 1 + (turns % (moments.length - from))
  return events.map(({ atMs }, place) => {
    const moment = moments.indexOf(atMs)
    if (moment >= to) return [ms(into * duration)]
    if (moment >= from) return [duration]
    return (resendMask >> place) & 1 ? [0, duration] : [0]
  })
}

/**
 * Sends every event once or more, in random order, in requests of random size, to random replicas.
 * Some requests are repeated as if their response was lost.
 */
async function sendRandomly(received: readonly PlannedView[], random: () => number): Promise<void> {
  for (const [viewer, ofViewer] of Map.groupBy(received, ({ view }) => view.viewer)) {
    const events = ofViewer.flatMap((one) => one.events)
    const userAgent = USER_AGENTS[ofViewer[0]?.view.device ?? ''] ?? ''
    const withDuplicates = [...events, ...events.filter(() => random() < 0.4)]
    const shuffled = withDuplicates.map((event) => ({ event, place: random() })).sort((a, b) => a.place - b.place)
    const sending: Promise<unknown>[] = []
    while (shuffled.length > 0) {
      const some = shuffled.splice(0, 1 + Math.floor(random() * 9)).map(({ event }) => event)
      const send = () => fixture.send(some, { replica: random() < 0.5 ? 0 : 1, clientAddress: viewer, userAgent })
      sending.push(
        send().then(async (result) => {
          expect(result).toEqual({ accepted: some.length, rejected: [] })
          // Repeats the request as if the response was lost.
          if (random() < 0.2) await send()
        }),
      )
      if (random() < 0.3) await Promise.all(sending)
      if (random() < 0.1) await fixture.settled({ byReplicas: random() < 0.5 })
    }
    await Promise.all(sending)
  }
}

/** Stores the events of videos whose length changes, as if the video had that length at the time of the event. */
async function writeRandomly(received: readonly PlannedView[], organisationId: string, random: () => number): Promise<void> {
  const store = createEventStore(fixture.db, randomUUID())
  const storedEvents = received.flatMap(({ view, events, lengths }) =>
    events.flatMap((event, place) =>
      (lengths?.[place] ?? []).map((length) => {
        const software = { device: view.device, browser: 'other', os: 'other', country: '' }
        const visitor = Buffer.from(view.viewer).toString('hex')
        const by = { organisationId, durationMs: length * 1_000, receivedMs: Date.now(), visitor, software }
        return toStoredEvent({ ...event, type: TYPES[event.type] ?? 0 }, by)
      }),
    ),
  )
  const withDuplicates = [...storedEvents, ...storedEvents.filter(() => random() < 0.4)]
  const shuffled = withDuplicates.map((event) => ({ event, place: random() })).sort((a, b) => a.place - b.place)
  while (shuffled.length > 0) {
    const some = shuffled.splice(0, 1 + Math.floor(random() * 9)).map(({ event }) => event)
    await store.write({
      lines: some.map((event) => toLine(event, toDay(event.atMs))),
      days: [...new Set(some.map(({ atMs }) => toDay(atMs)))],
    })
    if (random() < 0.3) await fixture.settled({ byReplicas: random() < 0.2 })
  }
}
const TYPES: Record<string, number> = {
  ...{ EVENT_TYPE_LOAD: EVENT_TYPE.load, EVENT_TYPE_PLAY: EVENT_TYPE.play },
  ...{ EVENT_TYPE_PROGRESS: EVENT_TYPE.progress, EVENT_TYPE_ENDED: EVENT_TYPE.ended },
}

let organisations = 100
test('the counts match the views for events that are shuffled, repeated and split over replicas', async () => {
  const from = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)
  await fc.assert(
    fc.asyncProperty(plan, async ({ views: drawn, seed }) => {
      const organisationId = String(++organisations)
      const videoIds = DURATIONS.map((duration) => fixture.catalogue.createVideo(duration, organisationId))
      const now = Date.now()
      const received = drawn.map((one, nth) => planView(one, nth, videoIds, now))
      await sendRandomly(
        received.filter(({ lengths }) => !lengths),
        seededRandom(seed),
      )
      await writeRandomly(
        received.filter(({ lengths }) => lengths),
        organisationId,
        seededRandom(seed),
      )
      await fixture.settled({ byReplicas: seed % 2 === 0 })
      const views = received.map(({ view }) => view)
      await expectLive({ organisationId, since: now }, views)
      await expectCounts({ organisationId, videoIds, from }, views)
      await expectExport({ organisationId, from }, views)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect(await fixture.reconcile()).toMatchObject({ differences: [] })
}, 240_000)

/** Every view has just sent an event, whatever its start time. */
async function expectLive({ organisationId, since }: { organisationId: string; since: number }, views: ModelView[]): Promise<void> {
  const live = await fixture.insights.getRealtime({ organisationId }, as('standard', organisationId))
  // On a slow machine the first views are no longer live.
  if (Date.now() - since > LIVE_MS) return
  const ofVideos = [...Map.groupBy(views, ({ videoId }) => videoId)].map(([videoId, some]) => ({ videoId, views: some.length }))
  expect(live.views).toBe(views.length)
  expect(new Set(live.videos.map((row) => JSON.stringify(row)))).toEqual(new Set(ofVideos.map((row) => JSON.stringify(row))))
}

/** Expects an exported row for each day, video and language. */
async function expectExport({ organisationId, from }: { organisationId: string; from: string }, views: ModelView[]): Promise<void> {
  let text = ''
  const requested = {
    ...{ organisationId, period: { dateStart: from, dateEnd: '' } },
    ...{ format: 'EXPORT_FORMAT_NDJSON' as const, dimension: 'DIMENSION_UNSPECIFIED' as const },
  }
  for await (const { data } of fixture.exports.exportDays(requested, as('standard', organisationId))) text += data
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const expected = byDay(views).flatMap(({ day, views: ofDay }) =>
    [...Map.groupBy(ofDay, ({ videoId, language }) => `${videoId} ${language}`).values()].map((some) => {
      const { playerLoads, videoPlays, completeViews, bouncedViews } = countViews(some)
      const { averagePercentageViewed, averageViewingTime } = computeAverages(some)
      return {
        ...{ day, organisation_id: organisationId, video_id: some[0]?.videoId, language: some[0]?.language },
        ...{ player_loads: playerLoads, video_plays: videoPlays, complete_views: completeViews, bounced_views: bouncedViews },
        average_percentage_viewed: expect.closeTo(averagePercentageViewed, 1),
        average_viewing_time: expect.closeTo(averageViewingTime, 1),
      }
    }),
  )
  expect(rows).toHaveLength(expected.length)
  expect(rows).toEqual(expect.arrayContaining(expected))
}

async function expectCounts(
  { organisationId, videoIds, from }: { organisationId: string; videoIds: string[]; from: string },
  views: ModelView[],
): Promise<void> {
  const { reports, insights } = fixture.replicas[1] ?? fixture
  const call = as('standard', organisationId)
  const period = { dateStart: from, dateEnd: '' }
  const requested = { organisationId, period }
  const rest = { pageSize: 0, pageToken: '', skip: 0 }
  expect((await reports.getViews({ ...requested, videoIds: [] }, call)).counts).toEqual(countViews(views))
  const days = byDay(views).map(({ day, views: some }) => ({ day, counts: countViews(some) }))
  expect((await reports.listDays({ ...requested, ...rest, videoIds: [], detailed: false }, call)).days).toEqual(days)
  expect((await reports.listDays({ ...requested, ...rest, videoIds, detailed: false }, call)).days).toEqual(days)
  const viewingDays = (some: ModelView[]) =>
    byDay(some).map(({ day, views: ofDay }) => ({
      ...{ day, counts: countViews(ofDay) },
      viewingSeconds: expect.closeTo(countViews(ofDay).videoPlays * computeAverages(ofDay).averageViewingTime, 1),
    }))
  for (const some of [[], videoIds])
    expect((await reports.listDays({ ...requested, ...rest, videoIds: some, detailed: true }, call)).days).toEqual(viewingDays(views))
  const countByLanguage = (by: 'language' | 'subtitle', some: ModelView[]) =>
    new Map([...Map.groupBy(some, (view) => view[by])].map(([language, same]) => [language, countViews(same)]))
  const toMap = (rows: readonly { language: string; counts: unknown }[]) => new Map(rows.map((row) => [row.language, row.counts]))
  const readLanguages = async (videoId: string) => toMap((await reports.listLanguages({ ...requested, videoId }, call)).languages)
  expect(await readLanguages('')).toEqual(countByLanguage('language', views))
  expect(toMap((await reports.listSubtitles(requested, call)).languages)).toEqual(countByLanguage('subtitle', views))
  const readDimension = async (by: 'device' | 'referrer', videoId: string) => {
    const dimension = by === 'device' ? ('DIMENSION_DEVICE' as const) : ('DIMENSION_REFERRER' as const)
    const { values } = await reports.listDimension({ ...requested, videoId, dimension }, call)
    return new Map(values.map(({ value, counts }) => [value, counts]))
  }
  const countBy = (by: 'device' | 'referrer', some: ModelView[]) =>
    new Map([...Map.groupBy(some, (view) => view[by])].map(([value, same]) => [value, countViews(same)]))
  for (const by of ['device', 'referrer'] as const) expect(await readDimension(by, '')).toEqual(countBy(by, views))
  expect((await insights.listViewerDays({ ...requested, ...rest, videoId: '' }, call)).days).toEqual(countViewers(views))
  const measure = (some: ModelView[]) =>
    byDay(some).flatMap(({ day, views: ofDay }) => (computeQuality(ofDay).views > 0 ? [{ day, ...computeQuality(ofDay) }] : []))
  expect((await insights.listQualityDays({ ...requested, ...rest, videoId: '' }, call)).days).toEqual(measure(views))
  const { videos } = await reports.listVideos({ ...requested, ...rest, videoIds: [], languages: [], detailed: true, byViews: false }, call)
  expect(videos.map(({ videoId }) => videoId).sort()).toEqual([...new Set(views.map(({ videoId }) => videoId))].sort())

  for (const [nth, videoId] of videoIds.entries()) {
    const duration = DURATIONS[nth] ?? 1
    const own = views.filter((view) => view.videoId === videoId)
    const ofVideo = { ...requested, videoId }
    const viewed = await reports.getDurationViewed(ofVideo, call)
    expect(viewed).toMatchObject({ counts: countViews(own), durationSeconds: duration, watched: computeBuckets(own) })
    const { averagePercentageViewed, averageViewingTime } = computeAverages(own)
    expect(viewed.watched?.averagePercentageViewed).toBeCloseTo(averagePercentageViewed, 1)
    expect(viewed.watched?.averageViewingTime).toBeCloseTo(averageViewingTime, 1)
    const row = videos.find((video) => video.videoId === videoId)
    if (own.length > 0) expect(row).toMatchObject({ counts: countViews(own), watched: viewed.watched, durationSeconds: duration })
    expect((await reports.listVideoDays({ ...ofVideo, ...rest }, call)).days).toEqual(viewingDays(own))
    const { watched, rewatched, cellSeconds } = await insights.getHeatmap(ofVideo, call)
    if (own.some(({ played }) => played)) expect({ watched, rewatched, cellSeconds }).toEqual(computeHeat(own, duration))
    else expect({ watched, rewatched }).toEqual({ watched: [], rewatched: [] })
    const quality = (await insights.listQualityDays({ ...ofVideo, ...rest }, call)).days
    expect(quality).toEqual(measure(own))
    expect(await readLanguages(videoId)).toEqual(countByLanguage('language', own))
    expect((await insights.listViewerDays({ ...ofVideo, ...rest }, call)).days).toEqual(countViewers(own))
    for (const by of ['device', 'referrer'] as const) expect(await readDimension(by, videoId)).toEqual(countBy(by, own))
    const german = own.filter((view) => view.language === 'de')
    const filtered = await reports.listVideos(
      { ...requested, ...rest, videoIds: [videoId], languages: ['de'], detailed: false, byViews: false },
      call,
    )
    expect(filtered.videos.map(({ counts }) => counts)).toEqual(german.length > 0 ? [countViews(german)] : [])
  }
}
