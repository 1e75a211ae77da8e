import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import {
  BROWSER,
  buildEvent,
  COUNTS,
  type EventFields,
  expectReport,
  filterByVideo,
  MISSING_VIDEO,
  rejectedFilterCalls,
  rejectedPageCalls,
  rejectedReportCalls,
  requireViews,
  sendEvents,
} from '../support/analytics-steps.ts'
import type { NounRows, Row } from '../support/table-row.ts'

const languageRow = (endpoint: string, path: string, language: string): Row => ({
  endpoint,
  async works(fixture) {
    const { owner } = fixture
    const { day } = await requireViews(fixture)
    const ofDay = { language, organisation_id: owner.organisationId, date_start: day, date_end: day }
    const check = (rows: EventFields[]) => {
      const row = rows.find((one) => one['language'] === language)
      expect(row).toMatchObject(ofDay)
      expect(Number(row?.['player_loads'])).toBeGreaterThanOrEqual(4)
      expect(Number(row?.['complete_views'])).toBeGreaterThanOrEqual(1)
    }
    const endpointPath = `${path}/${owner.organisationId}`
    await expectReport(fixture, `${endpointPath}?date_from=${day}&date_to=${day}`, check)
    await expectReport(fixture, `${endpointPath}?date_start=${day}&date_end=${day}`, check)
    expect((await fixture.clients.system.get(`${endpointPath}?date_from=2012-01-01&date_to=2012-01-02`)).body).toEqual([])
  },
  async rejectedCalls(fixture) {
    const endpointPath = `${path}/${fixture.owner.organisationId}`
    return [
      ...(await rejectedReportCalls(fixture, (organisation) => `${path}/${organisation}`, ['date_from', 'date_to'])),
      { method: 'GET', path: `${endpointPath}?date_start=2030-01-02&date_end=2030-01-01`, status: 400, fields: ['date_end'] },
      { method: 'GET', path: `${endpointPath}?date_from=2030-01-02&date_start=2030-01-02`, status: 400, fields: ['date_start'] },
    ]
  },
})

export const analyticsRows: NounRows = {
  noun: 'analytics',
  rows: [
    languageRow('GET /analytics/language/{organisation_id}', '/analytics/language', 'en'),
    languageRow('GET /analytics/language/subtitle/{organisation_id}', '/analytics/language/subtitle', 'de'),
    {
      endpoint: 'GET /analytics/language/{organisation_id}/video/{video_id}',
      async works(fixture) {
        const { owner } = fixture
        const { day, videoId } = await requireViews(fixture)
        const path = `/analytics/language/${owner.organisationId}/video/${videoId}`
        const record = { language: 'en', video_id: videoId, organisation_id: owner.organisationId, ...COUNTS }
        await expectReport(fixture, `${path}?date_start=${day}&date_end=${day}`, (body) =>
          expect(body).toEqual([{ ...record, date_start: day, date_end: day }]),
        )
        expect((await fixture.clients.system.get(`${path}?date_start=2012-01-01&date_end=2012-01-02`)).body).toEqual([])
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/language/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/views/{id}',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day } = await requireViews(fixture)
        const path = `/analytics/views/${owner.organisationId}`
        const record = {
          organisation_id: owner.organisationId,
          ...COUNTS,
          date_start: '2012-01-01',
          date_end: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        }
        await expectReport(fixture, `${path}?${filterByVideo(videoId)}`, (body) => expect(body).toEqual(record))
        expect((await fixture.clients.system.get(`${path}?${filterByVideo(videoId)}&date_start=${day}`)).body).toMatchObject({
          ...COUNTS,
          date_start: day,
        })
        const before = await fixture.clients.owner.get(`${path}?date_end=2012-01-01`)
        expect(before.body).toEqual({
          organisation_id: owner.organisationId,
          ...{ player_loads: 0, video_plays: 0, complete_views: 0, bounced_views: 0, date_start: '2012-01-01', date_end: '2012-01-01' },
        })
        expect((await fixture.clients.owner.get(`${path}?date_start=0001-01-01&date_end=9999-12-31`)).status).toBe(200)
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/views/${fixture.owner.organisationId}`
        const languages = `${path}?filter=${encodeURIComponent('{"language":["en"]}')}`
        return [
          ...(await rejectedReportCalls(fixture, (id) => `/analytics/views/${id}`)),
          ...(await rejectedFilterCalls(fixture, path, [{ method: 'GET', path: languages, status: 400, fields: ['filter.language'] }])),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day } = await requireViews(fixture)
        const path = `/analytics/views/${owner.organisationId}/per-day?${filterByVideo(videoId)}`
        await expectReport(fixture, path, (body) => expect(body).toEqual([{ day, organisation_id: owner.organisationId, ...COUNTS }]))
        const { body } = await fixture.clients.owner.get(`${path}&detailed=true`)
        expect(body).toEqual([{ day, organisation_id: owner.organisationId, ...COUNTS, viewing_time: expect.any(Number) }])
        expect((await fixture.clients.system.get(`${path}&date_end=2012-01-01`)).body).toEqual([])
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/views/${fixture.owner.organisationId}/per-day`
        return [
          ...(await rejectedReportCalls(fixture, (id) => `/analytics/views/${id}/per-day`)),
          ...(await rejectedFilterCalls(fixture, path, [
            { method: 'GET', path: `${path}?detailed=maybe`, status: 400, fields: ['detailed'] },
          ])),
          ...rejectedPageCalls(path),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{org_id}/per-video',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day, duration } = await requireViews(fixture)
        const endpointPath = `/analytics/views/${owner.organisationId}/per-video?date_start=${day}&date_end=${day}`
        const record = { video_id: videoId, organisation_id: owner.organisationId, ...COUNTS, date_start: day, date_end: day }
        await expectReport(fixture, `${endpointPath}&${filterByVideo(videoId)}`, (body) => expect(body).toEqual([record]))
        const { body: detailed } = await fixture.clients.system.get<EventFields[]>(
          `${endpointPath}&${filterByVideo(videoId)}&detailed=true`,
        )
        expect(detailed).toEqual([
          {
            ...record,
            ...{ video_duration: duration, title_public: 'Plays', title_private: 'Plays', description: '', language: expect.any(String) },
            ...{ average_percentage_viewed: expect.any(Number), average_viewing_time: expect.any(Number) },
            ...{ views_per_duration: expect.any(Object), max_percentage_viewed: expect.any(Object) },
          },
        ])
        expect((await fixture.clients.owner.get(`${endpointPath}&${filterByVideo(videoId)}&order=views`)).body).toEqual([record])
        const narrowed = (language: string) => encodeURIComponent(JSON.stringify({ video_id: [videoId], language: [language] }))
        expect((await fixture.clients.owner.get(`${endpointPath}&filter=${narrowed('en')}`)).body).toEqual([record])
        expect((await fixture.clients.owner.get(`${endpointPath}&filter=${narrowed('fr')}`)).body).toEqual([])
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/views/${fixture.owner.organisationId}/per-video`
        const languages = `${path}?filter=${encodeURIComponent(JSON.stringify({ language: ['x'.repeat(36)] }))}&detailed=maybe&order=title`
        return [
          ...(await rejectedReportCalls(fixture, (id) => `/analytics/views/${id}/per-video`)),
          ...(await rejectedFilterCalls(fixture, path, [
            { method: 'GET', path: languages, status: 400, fields: ['detailed', 'filter.language[0]', 'order'] },
          ])),
          ...rejectedPageCalls(path),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/views/{id}/video/{video_id}',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day, duration } = await requireViews(fixture)
        const path = `/analytics/views/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        const record = { video_id: videoId, organisation_id: owner.organisationId, video_duration: duration, ...COUNTS }
        await expectReport(fixture, path, (body) => expect(body).toEqual({ ...record, date_start: day, date_end: day }))
        expect((await fixture.clients.system.get(path)).body).toMatchObject(record)
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/views/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/views/{id}/video/{video_id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day } = await requireViews(fixture)
        const path = `/analytics/views/${owner.organisationId}/video/${videoId}/per-day`
        const record = { day, video_id: videoId, organisation_id: owner.organisationId, ...COUNTS }
        await expectReport(fixture, path, (body) => expect(body).toEqual([{ ...record, viewing_time: expect.any(Number) }]))
        expect((await fixture.clients.system.get(`${path}?date_end=2012-01-01`)).body).toEqual([])
      },
      async rejectedCalls(fixture) {
        const { videoId } = await requireViews(fixture)
        return [
          ...(await rejectedReportCalls(fixture, (id, video) => `/analytics/views/${id}/video/${video}/per-day`)),
          ...rejectedPageCalls(`/analytics/views/${fixture.owner.organisationId}/video/${videoId}/per-day`),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/duration-viewed/{id}/video/{video_id}',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day, duration } = await requireViews(fixture)
        const path = `/analytics/duration-viewed/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        await expectReport<Record<string, Record<string, number>>>(fixture, path, (body) => {
          expect(body).toMatchObject({ video_id: videoId, organisation_id: owner.organisationId, video_duration: duration, ...COUNTS })
          expect(Object.keys(body['views_per_duration'] ?? {})).toEqual(Array.from({ length: 21 }, (_, index) => String(index * 5)))
          // Two viewers watched the first half, one the rest, and one did not play.
          expect(body['views_per_duration']).toMatchObject({ 0: 2, 25: 2, 75: 1, 95: 1, 100: 1 })
          expect(body['max_percentage_viewed']).toMatchObject({ 0: 1, 50: 1, 100: 1 })
          expect(Math.abs(Number(body['average_percentage_viewed']) - 50)).toBeLessThan(10)
        })
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/duration-viewed/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/heatmap/{organisation_id}/video/{video_id}',
      async works(fixture) {
        const { owner } = fixture
        const { videoId, day, duration } = await requireViews(fixture)
        const path = `/analytics/heatmap/${owner.organisationId}/video/${videoId}?date_start=${day}&date_end=${day}`
        await expectReport<{ watched: number[]; rewatched: number[] }>(fixture, path, (body) => {
          expect(body).toMatchObject({ video_id: videoId, video_duration: duration, cell_seconds: 1, date_start: day, date_end: day })
          expect([body.watched.length, body.watched[0], body.watched.at(-1)]).toEqual([Math.ceil(duration), 2, 1])
          expect([body.rewatched.length, body.rewatched[0], body.rewatched.at(-1)]).toEqual([Math.ceil(duration), 1, 0])
        })
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/heatmap/${id}/video/${video}`),
    },
    {
      endpoint: 'GET /analytics/realtime/{organisation_id}',
      async works(fixture) {
        const { owner } = fixture
        const { video_id } = await fixture.video()
        await sendEvents(fixture, [buildEvent(video_id), buildEvent(video_id, { type: 'play' })])
        await expectReport<{ views: number; recent_views: number; videos: EventFields[] }>(
          fixture,
          `/analytics/realtime/${owner.organisationId}`,
          (body) => {
            expect(body).toMatchObject({ organisation_id: owner.organisationId, videos: expect.arrayContaining([{ video_id, views: 2 }]) })
            expect(body.views).toBeGreaterThanOrEqual(2)
            expect(body.recent_views).toBeGreaterThanOrEqual(body.views)
          },
        )
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id) => `/analytics/realtime/${id}`, []),
    },
    {
      endpoint: 'GET /analytics/viewers/{organisation_id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { day } = await requireViews(fixture)
        const path = `/analytics/viewers/${owner.organisationId}/per-day?date_start=${day}&date_end=${day}`
        await expectReport(fixture, path, (body) =>
          expect(body).toEqual([{ day, organisation_id: owner.organisationId, unique_viewers: 1 }]),
        )
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/viewers/${fixture.owner.organisationId}/per-day`
        return [...(await rejectedReportCalls(fixture, (id) => `/analytics/viewers/${id}/per-day`)), ...rejectedPageCalls(path)]
      },
    },
    {
      endpoint: 'GET /analytics/viewers/{organisation_id}/video/{video_id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { day, videoId } = await requireViews(fixture)
        const path = `/analytics/viewers/${owner.organisationId}/video/${videoId}/per-day?date_start=${day}&date_end=${day}`
        const record = { day, video_id: videoId, organisation_id: owner.organisationId, unique_viewers: 1 }
        await expectReport(fixture, path, (body) => expect(body).toEqual([record]))
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/viewers/${id}/video/${video}/per-day`),
    },
    {
      endpoint: 'GET /analytics/qoe/{organisation_id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { day } = await requireViews(fixture)
        const path = `/analytics/qoe/${owner.organisationId}/per-day?date_start=${day}&date_end=${day}`
        await expectReport<EventFields[]>(fixture, path, (body) => {
          expect(body).toMatchObject([{ day, organisation_id: owner.organisationId }])
          for (const name of ['views', 'started_views', 'stalled_views', 'stalls', 'error_views'])
            expect(Number(body[0]?.[name])).toBeGreaterThanOrEqual(1)
          expect(body[0]).not.toHaveProperty('video_id')
        })
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/qoe/${fixture.owner.organisationId}/per-day`
        return [...(await rejectedReportCalls(fixture, (id) => `/analytics/qoe/${id}/per-day`)), ...rejectedPageCalls(path)]
      },
    },
    {
      endpoint: 'GET /analytics/qoe/{organisation_id}/video/{video_id}/per-day',
      async works(fixture) {
        const { owner } = fixture
        const { day, videoId } = await requireViews(fixture)
        const path = `/analytics/qoe/${owner.organisationId}/video/${videoId}/per-day?date_start=${day}&date_end=${day}`
        const figures = {
          views: 2,
          started_views: 2,
          average_startup_ms: 300,
          stalled_views: 1,
          stalls: 1,
          stalled_ms: 500,
          switches: 2,
          error_views: 1,
        }
        await expectReport(fixture, path, (body) =>
          expect(body).toEqual([{ day, video_id: videoId, organisation_id: owner.organisationId, ...figures }]),
        )
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/qoe/${id}/video/${video}/per-day`),
    },
    {
      endpoint: 'GET /analytics/export/{organisation_id}',
      async works(fixture) {
        const { platform, owner } = fixture
        const { day, videoId } = await requireViews(fixture)
        const of = `/v2/analytics/export/${owner.organisationId}?date_start=${day}&date_end=${day}`
        const read = async (format: string) => {
          const headers = { authorization: `Bearer ${owner.key}` }
          const response = await fetch(`${platform.url}${of}&format=${format}`, { headers })
          return {
            status: response.status,
            type: response.headers.get('content-type'),
            lines: (await response.text()).trimEnd().split(/\r?\n/),
          }
        }
        const row = async () => {
          const { status, type, lines } = await read('ndjson')
          expect([status, type]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
          return lines.map((line) => JSON.parse(line || '{}') as EventFields).find((one) => one['video_id'] === videoId)
        }
        await waitFor(async () => (await row())?.['player_loads'] === 4, { timeout: 30_000, describe: 'the views in the export' })
        expect(await row()).toMatchObject({ day, organisation_id: owner.organisationId, video_id: videoId, language: 'en', ...COUNTS })
        const csv = await read('csv')
        expect([csv.status, csv.type]).toEqual([200, 'text/csv; charset=utf-8'])
        const names = csv.lines[0]?.split(',') ?? []
        expect(names.slice(0, 5)).toEqual(['day', 'organisation_id', 'video_id', 'language', 'player_loads'])
        expect(csv.lines.find((line) => line.includes(videoId))).toMatch(
          new RegExp(`^${day},${owner.organisationId},${videoId},en,4,3,1,1,`),
        )
      },
      async rejectedCalls(fixture) {
        const path = `/analytics/export/${fixture.owner.organisationId}?format=xml`
        return [
          ...(await rejectedReportCalls(fixture, (id) => `/analytics/export/${id}`)),
          { method: 'GET', path: `${path}&dimension=address`, status: 400, fields: ['format', 'dimension'] },
          { method: 'GET', path, status: 400, fields: ['format'] },
        ]
      },
    },
    {
      endpoint: 'POST /analytics/events',
      async works(fixture) {
        const { clients, owner } = fixture
        const { video_id } = await fixture.video()
        const views = Array.from({ length: 99 }, () => buildEvent(video_id))
        const twice = buildEvent(video_id, { type: 'play', position: 0 })
        expect(await sendEvents(fixture, [...views, twice])).toMatchObject({ status: 202, body: { accepted: 100, rejected: [] } })
        // Repeated events, also in another order or as a beacon, do not count again.
        const beacon = {
          body: JSON.stringify([twice, ...views.slice(0, 50)]),
          headers: { ...BROWSER, 'content-type': 'text/plain;charset=UTF-8' },
        }
        expect(await clients.guest.send('POST', '/analytics/events', beacon)).toMatchObject({ status: 202, body: { accepted: 51 } })
        const path = `/analytics/views/${owner.organisationId}/video/${video_id}`
        await expectReport(fixture, path, (body) => expect(body).toMatchObject({ player_loads: 100, video_plays: 1 }))

        const unusualEvents = [
          buildEvent(video_id),
          buildEvent(MISSING_VIDEO),
          buildEvent('x'),
          buildEvent(video_id, { view_id: 'x' }),
          buildEvent(video_id, { at: Date.now() - 25 * 3_600_000 }),
          buildEvent(video_id, { at: Date.now() + 10 * 60_000 }),
          buildEvent(video_id, { position: -1 }),
          buildEvent(video_id, { watched: [[5, 1]] }),
          buildEvent(video_id, { rewatched: [[-1, 1]] }),
          {},
          buildEvent(video_id, { type: 'seek', at: new Date().toISOString() }),
          buildEvent(video_id, { watched: Array(1_001).fill([0, 1]) }),
        ]
        const { status, body } = await sendEvents(fixture, unusualEvents)
        expect([status, body.accepted, body.rejected.map(({ index }) => index)]).toEqual([202, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]])
        for (const { message } of body.rejected) expect(message).not.toBe('')
        await expectReport(fixture, path, (counts) => expect(counts).toMatchObject({ player_loads: 101, video_plays: 1 }))
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const event = buildEvent(video_id)
        const rejectedCall = { caller: 'guest' as const, method: 'POST', path: '/analytics/events', status: 400 }
        return [
          { ...rejectedCall, fields: ['payload'] },
          { ...rejectedCall, payload: event, fields: ['payload'] },
          { ...rejectedCall, payload: Array(101).fill(event), fields: ['payload'] },
          { ...rejectedCall, payload: Array.from({ length: 100_000 }, () => 1) },
        ]
      },
    },
  ],
  samples: {
    payloads: { 'POST /analytics/events': (v) => ({ video_id: v['video_id'], view_id: randomUUID(), type: 'load', at: Date.now() }) },
  },
}
