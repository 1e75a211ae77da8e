import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import {
  BROWSER,
  buildEvent,
  createForeignVideo,
  type EventsResponse,
  expectReport,
  MISSING,
  MISSING_VIDEO,
  rejectedPageCalls,
  sendEvents,
} from '../support/analytics-steps.ts'
import type { Fixture, NounRows } from '../support/table-row.ts'

interface Session {
  view_id: string
  startup_ms: number | null
  events?: Record<string, unknown>[]
}

const buildLine = (videoId: string, viewId: string, ts: number, rest: string) => `cid="${videoId}",${rest},sid="${viewId}",ts=${ts},v=2`
const sendReport = ({ clients }: Fixture, lines: readonly string[], type = 'application/cmcd') =>
  clients.guest.send<EventsResponse>('POST', '/analytics/cmcd', {
    body: lines.join('\n'),
    headers: { ...BROWSER, 'content-type': type },
  })

/** Sends the report of a view with a stall, a switch and an error. */
async function createSession(fixture: Fixture, videoId: string, start = Date.now() - 60_000) {
  const viewId = randomUUID()
  const lines = [
    [0, 'e=ps,sta=s'],
    [300, 'e=ps,sta=p'],
    [4_000, 'cen="rendition-switch",com.vitascope-from="360",com.vitascope-to="720",e=ce'],
    [5_000, 'e=ps,com.vitascope-position="4.5",sta=r'],
    [6_500, 'e=ps,sta=p'],
    [7_000, 'e=t'],
    [9_000, 'e=e,ec=("fragLoadError")'],
  ] as const
  const report = lines.map(([ms, rest]) => buildLine(videoId, viewId, start + ms, rest))
  const { status, body } = await sendReport(fixture, report)
  expect([status, body]).toEqual([202, { accepted: 7, rejected: [] }])
  return { viewId, start, report }
}

const buildSummary = (fixture: Fixture, videoId: string, viewId: string, start: number) => ({
  ...{ view_id: viewId, video_id: videoId, organisation_id: fixture.owner.organisationId, start },
  ...{ startup_ms: 300, stalls: 1, stalled_ms: 1_500, switches: 1, has_error: true },
})

export const viewSessionRows: NounRows = {
  noun: 'view session',
  rows: [
    {
      endpoint: 'GET /analytics/session/{view_id}',
      async works(fixture) {
        const { clients, owner } = fixture
        const { video_id } = await fixture.video()
        const { viewId, start } = await createSession(fixture, video_id)
        const { status, body } = await clients.uploader.get<Session>(`/analytics/session/${viewId}`)
        expect(status).toBe(200)
        const at = (ms: number) => ({ at: start + ms, position: null })
        expect(body).toEqual({
          ...buildSummary(fixture, video_id, viewId, start),
          events: [
            { type: 'state', ...at(0), state: 'starting' },
            { type: 'state', ...at(300), state: 'playing' },
            { type: 'switch', ...at(4_000), from_height: 360, to_height: 720, from_kbps: 0, to_kbps: 0 },
            { type: 'stall', ...at(5_000), position: 4.5, stalled_ms: 1_500 },
            { type: 'state', ...at(6_500), state: 'playing' },
            { type: 'error', ...at(9_000), code: 'fragLoadError' },
          ],
        })
        expect((await clients.system.get(`/analytics/session/${viewId}`)).body).toEqual(body)
        // The session of a view that only sent player events has their quality.
        const view_id = randomUUID()
        const qoe = { startup_ms: 250, stalls: 0, stalled_ms: 0, switches: 2, error: 'media' }
        await sendEvents(fixture, [buildEvent(video_id, { view_id, type: 'play', at: start, qoe })])
        const session = { view_id, video_id, organisation_id: owner.organisationId, start, has_error: true }
        await expectReport(fixture, `/analytics/session/${view_id}`, (read) =>
          expect(read).toEqual({
            ...{ ...session, startup_ms: 250, stalls: 0, stalled_ms: 0, switches: 2 },
            events: [{ type: 'error', ...at(0), code: 'media' }],
          }),
        )
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const { viewId } = await createSession(fixture, video_id)
        const rejectedCall = { method: 'GET', path: `/analytics/session/${viewId}` }
        return [
          { ...rejectedCall, caller: 'guest', status: 401 },
          { ...rejectedCall, caller: 'otherTenant', status: 404, code: 'view_not_found' },
          ...[randomUUID(), MISSING, 'x'].map((id) => ({
            ...{ method: 'GET', path: `/analytics/session/${id}`, status: 404, code: 'view_not_found' },
          })),
        ]
      },
    },
    {
      endpoint: 'GET /analytics/sessions/{video_id}',
      async works(fixture) {
        const { clients } = fixture
        const { video_id } = await fixture.video()
        const start = Date.now() - 60_000
        const viewIds: string[] = []
        for (let nth = 0; nth < 3; nth++) viewIds.unshift((await createSession(fixture, video_id, start + nth)).viewId)
        const path = `/analytics/sessions/${video_id}`
        const { status, body, headers } = await clients.owner.get<Session[]>(path)
        expect([status, headers.get('link')]).toEqual([200, null])
        expect(body).toEqual(viewIds.map((viewId, nth) => buildSummary(fixture, video_id, viewId, start + 2 - nth)))
        const first = await clients.owner.get<Session[]>(`${path}?limit=2`)
        expect(first.body).toEqual(body.slice(0, 2))
        const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? []
        const { pathname, search } = new URL(next)
        expect((await clients.owner.get(`${pathname.replace('/v2', '')}${search}`)).body).toEqual(body.slice(2))
        expect((await clients.owner.get(`${path}?start=3`)).body).toEqual(body.slice(2))
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const { video_id: foreignId } = await createForeignVideo(fixture)
        const rejectedCall = { method: 'GET', path: `/analytics/sessions/${video_id}` }
        return [
          { ...rejectedCall, caller: 'guest', status: 401 },
          { ...rejectedCall, caller: 'otherTenant', status: 404, code: 'video_not_found' },
          ...[foreignId, MISSING_VIDEO, 'x'].map((id) => ({
            ...{ method: 'GET', path: `/analytics/sessions/${id}`, status: 404, code: 'video_not_found' },
          })),
          ...rejectedPageCalls(rejectedCall.path),
        ]
      },
    },
    {
      endpoint: 'POST /analytics/cmcd',
      async works(fixture) {
        const { clients } = fixture
        const { video_id } = await fixture.video()
        const { viewId, report, start } = await createSession(fixture, video_id)
        // A report that arrives again, in another order or as a beacon, changes nothing.
        expect((await sendReport(fixture, report.toReversed(), 'text/plain;charset=UTF-8')).body).toEqual({ accepted: 7, rejected: [] })
        const read = async () => (await clients.owner.get<Session>(`/analytics/session/${viewId}`)).body.events?.length
        expect(await read()).toBe(6)
        const line = (ts: number, rest: string, cid = video_id, sid: string = viewId) => buildLine(cid, sid, ts, rest)
        const lines = [
          line(start + 10_000, 'e=ps,sta=a'),
          line(start, 'e=ps,sta=p', MISSING_VIDEO),
          line(start, 'e=ps,sta=p', video_id, 'x'),
          line(Date.now() - 25 * 3_600_000, 'e=ps,sta=p'),
          line(Date.now() + 10 * 60_000, 'e=ps,sta=p'),
          line(start, 'e=ps'),
          line(start, 'e=ps,sta=p').replace(',v=2', ''),
          '',
          '{"e":"ps"}',
        ]
        const { status, body } = await sendReport(fixture, lines)
        expect([status, body.accepted, body.rejected.map(({ index }) => index)]).toEqual([202, 1, [1, 2, 3, 4, 5, 6, 7, 8]])
        for (const { message } of body.rejected) expect(message).not.toBe('')
        expect(await read()).toBe(7)
      },
      async rejectedCalls(fixture) {
        const { video_id } = await fixture.video()
        const line = buildLine(video_id, randomUUID(), Date.now(), 'e=ps,sta=p')
        const rejectedCall = { caller: 'guest' as const, method: 'POST', path: '/analytics/cmcd', status: 400 }
        return [
          { ...rejectedCall, fields: ['payload'] },
          { ...rejectedCall, payload: { line }, fields: ['payload'] },
          { ...rejectedCall, payload: Array(101).fill({ line }), fields: ['payload'] },
        ]
      },
    },
  ],
  samples: {
    payloads: {
      'POST /analytics/cmcd': (v) => ({ line: buildLine(String(v['video_id']), randomUUID(), Date.now(), 'e=ps,sta=p') }),
    },
    async make(fixture) {
      const { video_id } = await fixture.video()
      return { view_id: (await createSession(fixture, video_id)).viewId }
    },
  },
}
