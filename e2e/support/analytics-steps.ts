import { randomUUID } from 'node:crypto'
import { expect } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import type { Fixture, RejectedCall } from './table-row.ts'
import { upload, type VideoRecord, waitUntilSettled } from './video-steps.ts'

export const MISSING_VIDEO = '4611686018427387905'
export const MISSING = '9007199254740991'
/** Clients without the user agent of a browser may be classified as bots. */
export const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
}

export interface EventsResponse {
  accepted: number
  rejected: { index: number; message: string }[]
}

export type EventFields = Record<string, unknown>

export const buildEvent = (video_id: string, fields: EventFields = {}): EventFields => ({
  video_id,
  view_id: randomUUID(),
  type: 'load',
  at: Date.now(),
  ...fields,
})
export const sendEvents = ({ clients }: Fixture, events: readonly EventFields[]) =>
  clients.guest.post<EventsResponse>('/analytics/events', [...events], BROWSER)
export const formatDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * The playable video. It has four views: the first only loads it, the second starts it and leaves,
 * the third watches the first half, and the fourth watches all of it.
 */
export interface ViewedVideo {
  videoId: string
  duration: number
  day: string
}

export const viewsByPlatform = new WeakMap<object, Promise<ViewedVideo>>()

export function requireViews(fixture: Fixture): Promise<ViewedVideo> {
  const existing = viewsByPlatform.get(fixture.platform)
  if (existing) return existing
  const created = makeViews(fixture)
  viewsByPlatform.set(fixture.platform, created)
  return created
}

export async function makeViews(fixture: Fixture): Promise<ViewedVideo> {
  const { video_id, duration: written } = await fixture.playing()
  const duration = Number(written)
  const at = Date.now()
  const half = duration / 2
  const view = (events: readonly EventFields[]) => {
    const view_id = randomUUID()
    return events.map((event) => ({ ...buildEvent(video_id, event), view_id, at, language: 'en', subtitle: 'de' }))
  }
  const qoe = { startup_ms: 200, stalls: 1, stalled_ms: 500, switches: 2 }
  const { status, body } = await sendEvents(fixture, [
    ...view([{ type: 'load' }]),
    ...view([{ type: 'load' }, { type: 'play', position: 0 }]),
    ...view([{ type: 'play' }, { type: 'progress', position: half, watched: [[0, half]], rewatched: [[0, half / 4]], qoe }]),
    ...view([{ type: 'ended', position: duration, watched: [[0, duration]], qoe: { startup_ms: 400, error: 'media' } }]),
  ])
  expect([status, body]).toEqual([202, { accepted: 6, rejected: [] }])
  return { videoId: video_id, duration, day: formatDay(at) }
}

export const COUNTS = { player_loads: 4, video_plays: 3, complete_views: 1, bounced_views: 1 }
export const filterByVideo = (videoId: string) => `filter=${encodeURIComponent(JSON.stringify({ video_id: [videoId] }))}`

/** Waits until `check` accepts the report without an error. Reports include sent events after a few seconds. */
export async function expectReport<Body>(fixture: Fixture, path: string, check: (body: Body) => void): Promise<void> {
  let wrong = ''
  const isExpected = async () => {
    try {
      const { status, body } = await fixture.clients.uploader.get<Body>(path)
      expect(status).toBe(200)
      check(body)
      return true
    } catch (error) {
      wrong = error instanceof Error ? error.message : String(error)
      return false
    }
  }
  await waitFor(isExpected, { timeout: 30_000, describe: () => `${path} to include the events: ${wrong}` })
}

/**
 * Returns the calls that every report rejects: calls for other organisations, for missing videos,
 * and with invalid days. `days` names the query parameters of the period; without names there are no
 * calls with invalid days.
 */
export async function rejectedReportCalls(
  fixture: Fixture,
  toPath: (organisationId: string, videoId: string) => string,
  days = ['date_start', 'date_end'],
): Promise<RejectedCall[]> {
  const { owner, otherTenant } = fixture
  const [start = '', end = ''] = days
  const { videoId } = await requireViews(fixture)
  const path = toPath(owner.organisationId, videoId)
  const rejectedCall = { method: 'GET', path }
  const hasVideo = toPath('1', '1') !== toPath('1', '2')
  return [
    { ...rejectedCall, caller: 'guest', status: 401 },
    { ...rejectedCall, caller: 'otherTenant', status: 403, code: 'foreign_organisation' },
    ...[otherTenant.organisationId, MISSING, 'x'].map((id) => ({
      method: 'GET',
      path: toPath(id, videoId),
      status: 403,
      code: 'foreign_organisation',
    })),
    ...[MISSING, 'x'].map((id) => ({
      caller: 'system' as const,
      method: 'GET',
      path: toPath(id, videoId),
      status: 404,
      code: 'organisation_not_found',
    })),
    ...(hasVideo
      ? [MISSING_VIDEO, MISSING, 'x', '9'.repeat(30)].map((id) => ({
          method: 'GET',
          path: toPath(owner.organisationId, id),
          status: 404,
          code: 'video_not_found',
        }))
      : []),
    ...(hasVideo
      ? [
          {
            caller: 'otherTenant' as const,
            method: 'GET',
            path: toPath(otherTenant.organisationId, videoId),
            status: 404,
            code: 'video_not_found',
          },
        ]
      : []),
    ...(start === ''
      ? []
      : [
          { ...rejectedCall, path: `${path}?${start}=2012-02-30&${end}=2030-1-1`, status: 400, fields: [start, end] },
          { ...rejectedCall, path: `${path}?${start}=2030-01-02&${end}=2030-01-01`, status: 400, fields: [end] },
          { ...rejectedCall, path: `${path}?${start}=9999-12-31`, status: 400, fields: [start] },
          { ...rejectedCall, path: `${path}?${end}=2011-12-31`, status: 400, fields: [end] },
        ]),
  ]
}

export async function rejectedFilterCalls(fixture: Fixture, path: string, additionalCalls: RejectedCall[] = []): Promise<RejectedCall[]> {
  const { video_id: foreign } = await createForeignVideo(fixture)
  const filtered = (filter: unknown) => `${path}?filter=${encodeURIComponent(typeof filter === 'string' ? filter : JSON.stringify(filter))}`
  const rejectedCall = { method: 'GET', status: 400 }
  return [
    { ...rejectedCall, path: filtered('x'), fields: ['filter'] },
    { ...rejectedCall, path: filtered({ video_id: ['x', '1', -1] }), fields: ['filter.video_id[0]', 'filter.video_id[2]'] },
    { ...rejectedCall, path: filtered({ video_id: Array(1_001).fill(1) }), fields: ['filter.video_id'] },
    { ...rejectedCall, path: filtered({ title: 'x' }), fields: ['filter.title'] },
    { ...rejectedCall, path: filtered({ video_id: [foreign] }), status: 404, code: 'video_not_found' },
    { ...rejectedCall, path: filtered({ video_id: [MISSING_VIDEO] }), status: 404, code: 'video_not_found' },
    ...additionalCalls,
  ]
}

export async function createForeignVideo({ clients, otherTenant, sources }: Fixture): Promise<VideoRecord> {
  const { id } = await upload(clients.otherTenant, otherTenant.organisationId, `${sources.url}/none.mp4`)
  return waitUntilSettled(clients.otherTenant, id)
}

export const rejectedPageCalls = (path: string): RejectedCall[] => [
  { method: 'GET', path: `${path}?limit=1001&start=0`, status: 400, fields: ['limit', 'start'] },
  { method: 'GET', path: `${path}?cursor=x`, status: 400, fields: ['cursor'] },
]
