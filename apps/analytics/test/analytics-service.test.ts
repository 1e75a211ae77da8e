import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import type { Event } from '@vitascope/proto/analytics/v1/event'
import { toStoredEvent } from '../src/event/event.ts'
import { toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())
beforeEach(() => fixture.catalogue.setUnavailable(false))

const DAY = 86_400_000
const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const defaultPage = { pageSize: 0, pageToken: '', skip: 0 }
const allDays = { dateStart: '', dateEnd: '9999-12-31' }
const user = as('uploader')
const counts = (playerLoads: number, videoPlays = 0, completeViews = 0, bouncedViews = 0) => ({
  ...{ playerLoads, videoPlays, completeViews, bouncedViews },
})
async function readCounts(videoId: string, call = user) {
  await fixture.settled()
  return (await fixture.reports.getVideo({ organisationId: '', videoId, period: allDays }, call)).counts
}

test('new events and views are counted per organisation and day, and exposed as a metric', async () => {
  const videoId = fixture.catalogue.createVideo(100, '88')
  const [first, second] = [buildEvent({ videoId, viewId: randomUUID() }), buildEvent({ videoId, viewId: randomUUID() })]
  await fixture.send([first, first, second])
  await fixture.settled()
  await fixture.send([first])
  await fixture.settled()
  const rows = await fixture.db.query('select day::text, events, views from organisation_growth where organisation_id = 88')
  expect(rows).toEqual([{ day: toDay(Date.now()), events: '4', views: '2' }])
  const metrics = await (await fetch(`http://127.0.0.1:${fixture.service.metricsPort}/metrics`)).text()
  expect(metrics).toMatch(/vitascope_analytics_organisation_rows\{organisation_id="88",rows="events",.*\} 4/)
})

describe('an event', () => {
  const view = () => ({ videoId: fixture.catalogue.createVideo(), viewId: randomUUID() })
  test.each<[string, (event: Event) => Partial<Event>]>([
    ['no such video', () => ({ videoId: '424242' })],
    ['no such video', () => ({ videoId: 'x\0' })],
    ['must be a UUID', () => ({ viewId: 'view-1' })],
    ['must be load, play, progress or ended', () => ({ type: 'EVENT_TYPE_UNSPECIFIED' })],
    ['more than 24 hours ago', () => ({ atMs: Date.now() - DAY - 1_000 })],
    ['more than 5 minutes ahead', () => ({ atMs: Date.now() + 400_000 })],
    ['must be milliseconds', () => ({ atMs: Number.NaN })],
    ['position: must be seconds', () => ({ positionSeconds: -1 })],
    ['position: must be seconds', () => ({ positionSeconds: Number.NaN })],
    ['watched: must be intervals', () => ({ watched: [{ fromSeconds: 5, toSeconds: 4 }] })],
    ['watched: must be intervals', () => ({ watched: [{ fromSeconds: -1, toSeconds: 4 }] })],
    ['rewatched: must be intervals', () => ({ rewatched: [{ fromSeconds: 0, toSeconds: Number.NaN }] })],
    ['watched: must have at most 1,000', () => ({ watched: Array(1_001).fill({ fromSeconds: 0, toSeconds: 1 }) })],
    ['language: must have', () => ({ language: 'a b' })],
    ['subtitle: must have', () => ({ subtitle: 'x'.repeat(36) })],
    ['qoe: stalls', () => ({ quality: { stalls: -1, stalledMs: 0, switches: 0, error: '' } })],
    ['qoe: switches', () => ({ quality: { stalls: 0, stalledMs: 0, switches: -1, error: '' } })],
    ['qoe: error', () => ({ quality: { stalls: 0, stalledMs: 0, switches: 0, error: 'x'.repeat(101) } })],
  ])('is rejected with “%s”, and the other events of the request count', async (message, alter) => {
    const [good, other] = [buildEvent(view()), buildEvent(view())]
    const result = await fixture.send([good, { ...other, ...alter(other) }, { ...good, viewId: randomUUID() }])
    expect(result).toEqual({ accepted: 2, rejected: [{ index: 1, message: expect.stringContaining(message) }] })
    expect(await readCounts(good.videoId)).toMatchObject({ playerLoads: 2 })
    expect(await readCounts(other.videoId)).toEqual(counts(0))
  })
  test('that requires a known view is rejected when the view is not stored', async () => {
    const first = buildEvent(view())
    const other = { ...first, viewId: randomUUID() }
    await fixture.send([first])
    await fixture.settled()
    const sent = [first, other, { ...first, viewId: first.viewId.toUpperCase() }].map((event) => ({ ...event, knownViewOnly: true }))
    expect(await fixture.send(sent)).toEqual({
      accepted: 2,
      rejected: [{ index: 1, message: expect.stringMatching(/^view_id: too_many_views: /) }],
    })
    expect(await readCounts(first.videoId)).toMatchObject({ playerLoads: 1 })
  })
  test('counts under a language of its video, a language of ISO 639 or none', async () => {
    const videoId = fixture.catalogue.createVideo(100, '77', ['pt-BR'])
    const sent = ['pt-BR', 'PT-br', 'pt-PT', 'deu', 'qqq', 'abcdefghij', ''].map((language) =>
      buildEvent({ videoId, viewId: randomUUID(), language }),
    )
    expect(await fixture.send(sent)).toMatchObject({ accepted: 7 })
    await fixture.settled()
    const { languages } = await fixture.reports.listLanguages({ organisationId: '', videoId: '', period: allDays }, as('uploader', '77'))
    expect(languages.map(({ language, counts: c }) => [language, c?.playerLoads]).sort()).toEqual([
      ['', 3],
      ['de', 1],
      ['pt', 1],
      ['pt-BR', 2],
    ])
  })
  test('of a bot is rejected', async () => {
    const event = buildEvent(view())
    const result = await fixture.send([event, event], { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' })
    expect(result).toMatchObject({ accepted: 0, rejected: [{ index: 0 }, { index: 1 }] })
  })
  test('far beyond the end of the video counts up to the end', async () => {
    const event = buildEvent({ ...view(), watched: [{ fromSeconds: 0, toSeconds: Number.POSITIVE_INFINITY }], positionSeconds: 1e300 })
    expect(await fixture.send([event])).toMatchObject({ accepted: 1 })
    expect(await readCounts(event.videoId)).toEqual(counts(1, 1, 1, 0))
  })
  test('is accepted in requests of 1 to 100 events, from services only', async () => {
    const event = buildEvent(view())
    for (const many of [[], Array<Event>(101).fill(event)]) await expect(fixture.send(many)).rejects.toMatchObject({ kind: 'invalid' })
    const call = fixture.events.acceptEvents({ events: [event], userAgent: '', clientAddress: '' }, user)
    await expect(call).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
    expect(await fixture.send(Array<Event>(100).fill(event))).toMatchObject({ accepted: 100 })
    expect(await readCounts(event.videoId)).toMatchObject({ playerLoads: 1 })
  })
  test('is accepted in a batch of requests, each of which has its own response', async () => {
    const [good, other] = [buildEvent(view()), buildEvent({ ...view(), viewId: 'x' })]
    const requests = [
      { events: [good, { ...good, viewId: randomUUID() }], userAgent: 'a browser', clientAddress: '192.0.2.1' },
      { events: [other, { ...good, viewId: randomUUID() }], userAgent: 'a browser', clientAddress: '192.0.2.2' },
      { events: [good], userAgent: 'Googlebot/2.1', clientAddress: '192.0.2.3' },
    ]
    const batch = (some: typeof requests) => fixture.events.acceptEventBatch({ requests: some }, serviceCall('gateway', 'r'))
    expect((await batch(requests)).responses).toEqual([
      { accepted: 2, rejected: [] },
      { accepted: 1, rejected: [{ index: 0, message: expect.stringContaining('UUID') }] },
      { accepted: 0, rejected: [{ index: 0, message: expect.stringContaining('crawlers') }] },
    ])
    expect(await readCounts(good.videoId)).toMatchObject({ playerLoads: 3 })
    const { days } = await fixture.insights.listViewerDays(
      { ...defaultPage, organisationId: '', videoId: good.videoId, period: allDays },
      user,
    )
    expect(days.map(({ uniqueViewers }) => uniqueViewers)).toEqual([2])
    const [first] = requests
    if (!first) throw new Error('no request')
    for (const some of [[], [first, { ...first, events: [] }], Array<typeof first>(1_001).fill(first)]) {
      await expect(batch(some)).rejects.toMatchObject({ kind: 'invalid' })
    }
    await expect(fixture.events.acceptEventBatch({ requests: [first] }, user)).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
  })
  test('of an unverifiable video is rejected as a whole while the catalogue is down, and one of a known video is accepted', async () => {
    const known = buildEvent(view())
    await fixture.send([known])
    const unknown = buildEvent(view())
    fixture.catalogue.setUnavailable(true)
    await expect(fixture.send([known, unknown])).rejects.toMatchObject({ kind: 'unavailable', reason: 'VIDEO_UNCHECKED' })
    expect(await fixture.send([{ ...known, viewId: randomUUID() }])).toMatchObject({ accepted: 1 })
    fixture.catalogue.setUnavailable(false)
    expect(await fixture.send([known, unknown])).toMatchObject({ accepted: 2 })
    expect([await readCounts(known.videoId), await readCounts(unknown.videoId)]).toMatchObject([{ playerLoads: 2 }, { playerLoads: 1 }])
  })
})

describe('a view', () => {
  test('counts on the day of its first event, and moves when an earlier event arrives late', async () => {
    const now = Date.now()
    const [videoId, viewId] = [fixture.catalogue.createVideo(), randomUUID()]
    const days = async () => {
      await fixture.settled()
      const request = { ...defaultPage, organisationId: '', videoId, period: allDays }
      return (await fixture.reports.listVideoDays(request, user)).days.map(({ viewingSeconds: _, ...day }) => day)
    }
    await fixture.send([buildEvent({ videoId, viewId, atMs: now, watched: [{ fromSeconds: 0, toSeconds: 50 }] })])
    expect(await days()).toEqual([{ day: toDay(now), counts: counts(1, 1) }])
    // Almost the earliest time that is accepted. It is yesterday at any hour.
    const early = now - DAY + 60_000
    await fixture.send([buildEvent({ videoId, viewId, atMs: early, type: 'EVENT_TYPE_LOAD' })])
    expect(await days()).toEqual([{ day: toDay(early), counts: counts(1, 1) }])
    expect((await fixture.reconcile()).differences).toEqual([])
  })
  test('keeps the duration that its video had at its first event, in any order of events', async () => {
    const now = Date.now()
    const store = createEventStore(fixture.db)
    const createEventPair = (videoId: string, viewId: string) => {
      const by = { organisationId: '1', receivedMs: now, visitor: undefined }
      const watched = [{ fromSeconds: 0, toSeconds: 96 }]
      const early = toStoredEvent(
        { ...buildEvent({ videoId, viewId, atMs: now - 60_000, watched }), type: 3 },
        { ...by, durationMs: 100_000 },
      )
      const late = toStoredEvent(
        { ...buildEvent({ videoId, viewId, atMs: now, watched: [{ fromSeconds: 0, toSeconds: 150 }] }), type: 3 },
        { ...by, durationMs: 400_000 },
      )
      return [early, late]
    }
    for (const order of [1, -1]) {
      const videoId = fixture.catalogue.createVideo(400)
      for (const event of createEventPair(videoId, randomUUID()).toSorted((a, b) => order * (a.atMs - b.atMs))) {
        await store.write({ lines: [toLine(event, toDay(event.atMs))], days: [toDay(event.atMs)] })
        await fixture.settled()
      }
      const { counts: viewedCounts, watched } = await fixture.reports.getDurationViewed(
        { organisationId: '', videoId, period: allDays },
        user,
      )
      // The watched part beyond the first duration does not count.
      expect([viewedCounts, watched?.averageViewingTime]).toEqual([counts(1, 1, 1), 100])
    }
    expect((await fixture.reconcile()).differences).toEqual([])
  })
})

describe('reports', () => {
  test('are limited to the caller’s own organisation and its videos', async () => {
    const foreign = fixture.catalogue.createVideo(100, '2')
    const own = fixture.catalogue.createVideo()
    const requested = { organisationId: '2', period: allDays }
    await expect(fixture.reports.getViews({ ...requested, videoIds: [] }, user)).rejects.toMatchObject({ reason: 'FOREIGN_ORGANISATION' })
    for (const videoIds of [[foreign], [own, foreign], ['77'], ['x']]) {
      await expect(fixture.reports.getViews({ ...requested, organisationId: '1', videoIds }, user)).rejects.toMatchObject({
        reason: 'VIDEO_NOT_FOUND',
      })
    }
    await expect(fixture.reports.getVideo({ ...requested, organisationId: '', videoId: foreign }, user)).rejects.toMatchObject({
      kind: 'not_found',
    })
    await expect(fixture.reports.getVideo({ ...requested, organisationId: '1', videoId: foreign }, as('system'))).rejects.toMatchObject({
      kind: 'not_found',
    })
    expect(await fixture.reports.getVideo({ ...requested, videoId: foreign }, as('system'))).toMatchObject({ counts: counts(0) })
    await expect(fixture.reports.getViews({ ...requested, organisationId: '', videoIds: [] }, as('system'))).rejects.toMatchObject({
      kind: 'invalid',
    })
    await expect(
      fixture.reports.getViews({ ...requested, organisationId: '1', videoIds: [] }, serviceCall('gateway', 'r')),
    ).rejects.toMatchObject({ kind: 'forbidden' })
  })
  test('are rejected for too many videos, and cover any period', async () => {
    const requested = { organisationId: '1', period: { dateStart: '2012-01-01', dateEnd: '9999-12-31' } }
    const videoIds = Array.from({ length: 100_000 }, (_, nth) => String(nth + 1))
    await expect(fixture.reports.listDays({ ...requested, ...defaultPage, videoIds, detailed: false }, user)).rejects.toMatchObject({
      kind: 'invalid',
    })
    const all = { ...requested, ...defaultPage, videoIds: [], languages: [], detailed: true, byViews: false }
    await expect(fixture.reports.listVideos({ ...all, videoIds }, user)).rejects.toMatchObject({ kind: 'invalid' })
    await expect(fixture.reports.listVideos({ ...all, skip: -1 }, user)).rejects.toMatchObject({ fields: [{ field: 'skip' }] })
    await expect(fixture.reports.listVideos({ ...all, pageToken: 'x' }, user)).rejects.toMatchObject({ fields: [{ field: 'page_token' }] })
    expect((await fixture.reports.listDays({ ...requested, ...defaultPage, videoIds: [], detailed: false }, user)).nextPageToken).toBe('')
  })
  test('list videos page by page with the catalogue’s titles, also after the videos were deleted', async () => {
    const call = as('standard', '9')
    const ids = Array.from({ length: 5 }, () => fixture.catalogue.createVideo(100, '9'))
    await fixture.send(ids.map((videoId) => buildEvent({ videoId, viewId: randomUUID() })))
    await fixture.settled()
    const list = { organisationId: '9', period: allDays, videoIds: [], languages: [], detailed: true, byViews: false }
    const first = await fixture.reports.listVideos({ ...list, pageSize: 2, pageToken: '', skip: 1 }, call)
    const second = await fixture.reports.listVideos({ ...list, pageSize: 2, pageToken: first.nextPageToken, skip: 0 }, call)
    const sorted = ids.toSorted((a, b) => Number(a) - Number(b))
    expect([...first.videos, ...second.videos].map(({ videoId }) => videoId)).toEqual(sorted.slice(1))
    expect(second.nextPageToken).toBe('')
    expect(first.videos[0]).toMatchObject({ titlePublic: expect.stringContaining('Title'), titlePrivate: expect.stringContaining('Media') })
    for (const id of ids) fixture.catalogue.videos.delete(id)
    const later = await fixture.reports.listVideos({ ...list, ...defaultPage }, call)
    expect(later.videos).toHaveLength(5)
    expect(later.videos[1]).toEqual(first.videos[0])
  })
  test('list the most viewed videos first, with pages', async () => {
    const ids = Array.from({ length: 4 }, () => fixture.catalogue.createVideo(100, '13'))
    const [one = '', three = '', none = '', two = ''] = ids
    const viewed = [one, three, three, three, two, two]
    await fixture.send(viewed.map((videoId) => buildEvent({ videoId, viewId: randomUUID() })))
    await fixture.settled()
    const list = { organisationId: '13', period: allDays, videoIds: [], languages: [], byViews: true }
    for (const detailed of [false, true]) {
      const request = { ...list, detailed }
      const first = await fixture.reports.listVideos({ ...request, pageSize: 2, pageToken: '', skip: 0 }, as('standard', '13'))
      expect(first.videos.map(({ videoId, counts }) => [videoId, counts?.playerLoads])).toEqual([
        [three, 3],
        [two, 2],
      ])
      const second = { ...request, pageSize: 2, pageToken: first.nextPageToken, skip: 0 }
      const { videos, nextPageToken } = await fixture.reports.listVideos(second, as('standard', '13'))
      expect([videos.map(({ videoId }) => videoId), nextPageToken]).toEqual([[one], ''])
    }
    const some = await fixture.reports.listVideos({ ...list, ...defaultPage, detailed: false, videoIds: [one, none] }, as('standard', '13'))
    expect(some.videos.map(({ videoId }) => videoId)).toEqual([one])
    const other = { ...list, ...defaultPage, detailed: false, languages: ['xx'] }
    expect((await fixture.reports.listVideos(other, as('standard', '13'))).videos).toEqual([])
  })
  test('include the current views', async () => {
    const videoId = fixture.catalogue.createVideo(100, '8')
    await fixture.send([buildEvent({ videoId, viewId: randomUUID() }), buildEvent({ videoId, viewId: randomUUID() })])
    await fixture.settled()
    expect(await fixture.insights.getRealtime({ organisationId: '8' }, as('standard', '8'))).toEqual({
      views: 2,
      videos: [{ videoId, views: 2 }],
      recentViews: 2,
    })
    const read = () => fixture.insights.getRealtime({ organisationId: '8' }, as('standard', '8'))
    await fixture.db.query('update live_view set last_received_ms = last_received_ms - 120000 where video_id = $1', [videoId])
    expect(await read()).toEqual({ views: 0, videos: [], recentViews: 2 })
    await fixture.db.query('update live_view set last_received_ms = last_received_ms - 300000 where video_id = $1', [videoId])
    expect(await read()).toEqual({ views: 0, videos: [], recentViews: 0 })
  })
  test('are exported as NDJSON and as CSV without spreadsheet formulas', async () => {
    const videoId = fixture.catalogue.createVideo(100, '7', ['-1-1'])
    const watched = [{ fromSeconds: 0, toSeconds: 50 }]
    await fixture.send([
      buildEvent({ videoId, viewId: randomUUID(), watched, language: '-1-1' }),
      buildEvent({ videoId, viewId: randomUUID() }),
    ])
    await fixture.settled()
    const text = async (format: 'EXPORT_FORMAT_CSV' | 'EXPORT_FORMAT_NDJSON' | 'EXPORT_FORMAT_UNSPECIFIED') => {
      let all = ''
      for await (const { data } of fixture.exports.exportDays(
        { organisationId: '', period: allDays, format, dimension: 'DIMENSION_UNSPECIFIED' },
        as('standard', '7'),
      ))
        all += data
      return all
    }
    const today = toDay(Date.now())
    expect(await text('EXPORT_FORMAT_CSV')).toBe(
      [
        'day,organisation_id,video_id,language,player_loads,video_plays,complete_views,bounced_views,average_percentage_viewed,average_viewing_time',
        `${today},7,${videoId},,1,1,0,1,0,0`,
        `${today},7,${videoId},'-1-1,1,1,0,0,50,50`,
        '',
      ].join('\r\n'),
    )
    const lines = (await text('EXPORT_FORMAT_NDJSON')).trim().split('\n')
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ day: today, video_id: videoId, language: '-1-1', average_viewing_time: 50 })
    await expect(text('EXPORT_FORMAT_UNSPECIFIED')).rejects.toMatchObject({ kind: 'invalid' })
  })
})

describe('the stored data', () => {
  test('contains neither address nor browser of a viewer in any table', async () => {
    const viewer = { clientAddress: '198.51.100.77', userAgent: 'Browser-of-one-person/7.1' }
    const videoId = fixture.catalogue.createVideo()
    const createEventAt = (atMs: number) => buildEvent({ videoId, viewId: randomUUID(), atMs, watched: [{ fromSeconds: 0, toSeconds: 9 }] })
    const now = Date.now()
    await fixture.send([createEventAt(now), createEventAt(now - DAY + 60_000)], viewer)
    await fixture.settled()
    const tables = await fixture.db.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace`,
    )
    expect(tables.length).toBeGreaterThan(10)
    // PostgreSQL prints bytes as hexadecimal digits.
    const traces = Object.values(viewer)
      .flatMap((text) => [text.replaceAll('.', '[.]'), Buffer.from(text).toString('hex')])
      .join('|')
    for (const { name } of tables) {
      const matchingRows = await fixture.db.query(`select 1 from ${name} as one where one::text ~* $1 limit 1`, [traces])
      expect([name, matchingRows]).toEqual([name, []])
    }
    const { days } = await fixture.insights.listViewerDays({ ...defaultPage, organisationId: '', videoId, period: allDays }, user)
    expect(days).toEqual([...new Set([toDay(now - DAY + 60_000), toDay(now)])].map((day) => ({ day, uniqueViewers: 1 })))
  })
  test('is compared with the events, and every different count is reported', async () => {
    const videoId = fixture.catalogue.createVideo()
    await fixture.send([buildEvent({ videoId, viewId: randomUUID(), watched: [{ fromSeconds: 0, toSeconds: 9 }] })])
    await fixture.settled()
    expect((await fixture.reconcile()).differences).toEqual([])
    await fixture.db.query('update video_day set plays = plays + 1 where video_id = $1', [videoId])
    await fixture.db.query('delete from video_heat where video_id = $1', [videoId])
    await fixture.db.query('update viewer_day set viewers = viewers + 1 where video_id = $1', [videoId])
    const { differences } = await fixture.reconcile()
    expect(differences.map(({ table }) => table)).toEqual(['video_day', 'video_heat', 'viewer_day'])
    expect(differences[0]).toMatchObject({ key: expect.stringContaining(videoId), counts: ['plays: 2, 1'] })
    await fixture.db.query('update video_day set plays = plays - 1 where video_id = $1', [videoId])
    await fixture.db.query('update viewer_day set viewers = viewers - 1 where video_id = $1', [videoId])
  })
})
