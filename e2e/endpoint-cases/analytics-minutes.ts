import { expect } from '@jest/globals'
import { buildEvent, type EventFields, expectReport, rejectedReportCalls, sendEvents } from '../support/analytics-steps.ts'
import type { NounRows } from '../support/table-row.ts'

interface MinuteFields extends EventFields {
  minute: string
  player_loads: number
  video_plays: number
  active_views: number
}

function sumMinutes(rows: readonly MinuteFields[]) {
  const sum = (name: 'player_loads' | 'video_plays' | 'active_views') => rows.reduce((total, row) => total + row[name], 0)
  return { player_loads: sum('player_loads'), video_plays: sum('video_plays'), active_views: sum('active_views') }
}

export const analyticsMinuteRows: NounRows = {
  noun: 'analytics minutes',
  rows: [
    {
      endpoint: 'GET /analytics/realtime/{organisation_id}/per-minute',
      async works(fixture) {
        const { owner } = fixture
        const { video_id } = await fixture.video()
        await sendEvents(fixture, [buildEvent(video_id), buildEvent(video_id, { type: 'play' })])
        await expectReport<MinuteFields[]>(fixture, `/analytics/realtime/${owner.organisationId}/per-minute`, (body) => {
          expect(body).toHaveLength(30)
          expect(body.every(({ organisation_id }) => organisation_id === owner.organisationId)).toBe(true)
          expect(sumMinutes(body).player_loads).toBeGreaterThanOrEqual(2)
          expect(sumMinutes(body).video_plays).toBeGreaterThanOrEqual(1)
          expect(sumMinutes(body).active_views).toBeGreaterThanOrEqual(2)
        })
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id) => `/analytics/realtime/${id}/per-minute`, []),
    },
    {
      endpoint: 'GET /analytics/realtime/{organisation_id}/video/{video_id}/per-minute',
      async works(fixture) {
        const { owner } = fixture
        const { video_id } = await fixture.video()
        const path = `/analytics/realtime/${owner.organisationId}/video/${video_id}/per-minute`
        await expectReport<MinuteFields[]>(fixture, path, (body) =>
          expect(sumMinutes(body)).toEqual({ player_loads: 0, video_plays: 0, active_views: 0 }),
        )
        const before = Math.floor(Date.now() / 60_000)
        await sendEvents(fixture, [buildEvent(video_id), buildEvent(video_id, { type: 'play' })])
        await expectReport<MinuteFields[]>(fixture, path, (body) => {
          expect(sumMinutes(body)).toEqual({ player_loads: 2, video_plays: 1, active_views: 2 })
          const minutes = body.map(({ minute }) => Date.parse(`${minute.replace(' ', 'T')}Z`) / 60_000)
          expect(minutes.map((minute) => minute - (minutes[0] ?? 0))).toEqual(minutes.map((_, index) => index))
          expect(minutes.at(-1)).toBeGreaterThanOrEqual(before)
          expect(body[0]).toMatchObject({ video_id, organisation_id: owner.organisationId })
        })
      },
      rejectedCalls: (fixture) => rejectedReportCalls(fixture, (id, video) => `/analytics/realtime/${id}/video/${video}/per-minute`, []),
    },
  ],
  samples: { payloads: {} },
}
