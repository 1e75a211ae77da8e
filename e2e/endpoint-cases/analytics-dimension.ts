import { expect } from '@jest/globals'
import {
  BROWSER,
  buildEvent,
  COUNTS,
  type EventFields,
  expectReport,
  rejectedReportCalls,
  requireViews,
  sendEvents,
} from '../support/analytics-steps.ts'
import type { Fixture, NounRows, RejectedCall } from '../support/table-row.ts'

const REFERRER = 'www.example.co.uk'

/** Sends a view with a referrer to a new video, by a phone. */
async function createView(fixture: Fixture): Promise<string> {
  const { video_id } = await fixture.video()
  const events = [buildEvent(video_id, { type: 'play', referrer: REFERRER }), buildEvent(video_id, { referrer: '' })]
  expect(await sendEvents(fixture, events)).toMatchObject({ status: 202, body: { accepted: 2 } })
  const phone = { ...BROWSER, 'user-agent': 'Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0' }
  const { status } = await fixture.clients.guest.post(
    '/analytics/events',
    [buildEvent(video_id, { type: 'play', referrer: '192.0.2.1' })],
    phone,
  )
  expect(status).toBe(202)
  return video_id
}

const rejectedDimensionCalls = async (
  fixture: Fixture,
  toPath: (organisationId: string, videoId: string) => string,
): Promise<RejectedCall[]> => {
  const { videoId } = await requireViews(fixture)
  const path = toPath(fixture.owner.organisationId, videoId)
  const withDimension = (call: RejectedCall) => ({ ...call, path: `${call.path}${call.path.includes('?') ? '&' : '?'}dimension=device` })
  return [
    ...(await rejectedReportCalls(fixture, toPath)).map(withDimension),
    { method: 'GET', path: `${path}?dimension=address`, status: 400, fields: ['dimension'] },
  ]
}

export const analyticsDimensionRows: NounRows = {
  noun: 'analytics dimension',
  rows: [
    {
      endpoint: 'GET /analytics/views/{organisation_id}/per-dimension',
      async works(fixture) {
        const { owner } = fixture
        const { day } = await requireViews(fixture)
        await createView(fixture)
        const withoutDimension = await fixture.clients.owner.get<EventFields[]>(`/analytics/views/${owner.organisationId}/per-dimension`)
        expect(new Set(withoutDimension.body.map(({ dimension }) => dimension))).toEqual(new Set(['device']))
        const path = `/analytics/views/${owner.organisationId}/per-dimension?date_start=${day}&date_end=${day}`
        const ids = { organisation_id: owner.organisationId, date_start: day, date_end: day }
        for (const [dimension, values] of [
          ['device', ['desktop', 'phone']],
          ['browser', ['chrome', 'firefox']],
          ['os', ['linux', 'android']],
          ['referrer', ['', 'example.co.uk', 'other']],
          ['country', ['']],
        ] as const) {
          await expectReport<EventFields[]>(fixture, `${path}&dimension=${dimension}`, (rows) => {
            for (const value of values)
              expect(rows.find((row) => row['value'] === value)).toMatchObject({ dimension, ...ids, player_loads: expect.any(Number) })
          })
        }
      },
      rejectedCalls: (fixture) => rejectedDimensionCalls(fixture, (id) => `/analytics/views/${id}/per-dimension`),
    },
    {
      endpoint: 'GET /analytics/views/{organisation_id}/video/{video_id}/per-dimension',
      async works(fixture) {
        const { owner, platform } = fixture
        const { day, videoId } = await requireViews(fixture)
        const toPath = (id: string, dimension: string) =>
          `/analytics/views/${owner.organisationId}/video/${id}/per-dimension?dimension=${dimension}&date_start=${day}&date_end=${day}`
        const ids = { organisation_id: owner.organisationId, date_start: day, date_end: day }
        await expectReport(fixture, toPath(videoId, 'device'), (rows) =>
          expect(rows).toEqual([{ dimension: 'device', value: 'desktop', video_id: videoId, ...ids, ...COUNTS }]),
        )
        const viewed = await createView(fixture)
        const one = { dimension: 'referrer', video_id: viewed, ...ids, player_loads: 1, complete_views: 0 }
        await expectReport(fixture, toPath(viewed, 'referrer'), (rows) =>
          expect(rows).toEqual([
            { ...one, value: '', video_plays: 0, bounced_views: 0 },
            { ...one, value: 'example.co.uk', video_plays: 1, bounced_views: 1 },
            { ...one, value: 'other', video_plays: 1, bounced_views: 1 },
          ]),
        )
        const headers = { authorization: `Bearer ${owner.key}` }
        const exported = await fetch(
          `${platform.url}/v2/analytics/export/${owner.organisationId}?format=csv&dimension=referrer&date_start=${day}&date_end=${day}`,
          { headers },
        )
        expect(exported.headers.get('content-disposition')).toContain(`analytics-referrer-${owner.organisationId}-${day}-${day}.csv`)
        const lines = (await exported.text()).split('\r\n')
        expect(lines[0]).toBe('day,organisation_id,video_id,dimension,value,player_loads,video_plays,complete_views,bounced_views')
        expect(lines).toContain(`${day},${owner.organisationId},${viewed},referrer,example.co.uk,1,1,0,1`)
      },
      rejectedCalls: (fixture) => rejectedDimensionCalls(fixture, (id, video) => `/analytics/views/${id}/video/${video}/per-dimension`),
    },
  ],
  samples: { payloads: {} },
}
