import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { createPartitions, deleteInBatches } from '@vitascope/postgres'
import type { ReceivedSessionEvent, SessionEvent } from '@vitascope/proto/analytics/v1/view_session'
import { toStoredEvent } from '../src/event/event.ts'
import { completeLine, toLine } from '../src/event/event-line.ts'
import { createEventStore } from '../src/event/event-store.ts'
import { analyticsRetention } from '../src/retention/retention.ts'
import { toDay } from '../src/view/day.ts'
import { SESSION_EVENTS, VIEW_SESSIONS } from '../src/view/partitions.ts'
import { addSessionEvents, buildSessionEvent, MAX_SESSION_EVENTS } from '../src/view/session-event-store.ts'
import { deletedVideoSessions } from '../src/view-session/deleted-videos.ts'
import { createViewSessionStore } from '../src/view-session/view-session-store.ts'
import { as, buildEvent, openFixture } from './test-analytics.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const DAY = 86_400_000
const user = as('uploader')
const start = Date.now() - 60_000
const event = (fields: Partial<SessionEvent>): SessionEvent => ({
  ...{ type: 'SESSION_EVENT_TYPE_STATE', atMs: start, state: 'PLAYER_STATE_UNSPECIFIED', errorCode: '' },
  ...{ renditionSwitch: undefined },
  ...fields,
})
const state = (atMs: number, name: SessionEvent['state']) => event({ atMs, state: name })
const renditionSwitch = (atMs: number, fromHeight: number, toHeight: number) =>
  event({ type: 'SESSION_EVENT_TYPE_SWITCH', atMs, renditionSwitch: { fromHeight, toHeight, fromKbps: 0, toKbps: 0 } })
const error = (atMs: number, errorCode: string) => event({ type: 'SESSION_EVENT_TYPE_ERROR', atMs, errorCode })
const newView = (organisationId = '1') => ({ videoId: fixture.catalogue.createVideo(100, organisationId), viewId: randomUUID() })
const sendSession = (view: { videoId: string; viewId: string }, events: SessionEvent[], more: Partial<ReceivedSessionEvent> = {}) =>
  fixture.sessions.acceptSessionEvents(
    { events: events.map((one) => ({ ...view, event: one, knownViewOnly: false, ...more })), userAgent: 'a browser' },
    serviceCall('gateway', 'r'),
  )
const read = (viewId: string, call = user) => fixture.sessions.getViewSession({ viewId }, call)
const list = (videoId: string, page: { pageSize?: number; pageToken?: string; skip?: number } = {}, call = user) =>
  fixture.sessions.listViewSessions({ videoId, pageSize: 0, pageToken: '', skip: 0, ...page }, call)

const PLAYED = [
  state(start, 'PLAYER_STATE_STARTING'),
  state(start + 400, 'PLAYER_STATE_PLAYING'),
  renditionSwitch(start + 4_000, 360, 720),
  state(start + 5_000, 'PLAYER_STATE_REBUFFERING'),
  state(start + 6_500, 'PLAYER_STATE_PLAYING'),
  error(start + 9_000, 'fragLoadError'),
]

test('a session has the startup time, and its stalls, switches and errors in order', async () => {
  const view = newView()
  expect(await sendSession(view, PLAYED.toReversed())).toEqual({ accepted: 6, rejected: [] })
  const { session, events } = await read(view.viewId.toUpperCase())
  expect(session).toEqual({
    ...view,
    ...{ organisationId: '1', startMs: start, startupMs: 400, stalls: 1, stalledMs: 1_500, switches: 1, hasError: true },
  })
  expect(events.map(({ type, atMs }) => [type, atMs - start])).toEqual([
    ['SESSION_EVENT_TYPE_STATE', 0],
    ['SESSION_EVENT_TYPE_STATE', 400],
    ['SESSION_EVENT_TYPE_SWITCH', 4_000],
    ['SESSION_EVENT_TYPE_STALL', 5_000],
    ['SESSION_EVENT_TYPE_STATE', 6_500],
    ['SESSION_EVENT_TYPE_ERROR', 9_000],
  ])
  expect(events[2]?.renditionSwitch).toEqual({ fromHeight: 360, toHeight: 720, fromKbps: 0, toKbps: 0 })
  expect([events[3]?.stalledMs, events[5]?.errorCode]).toEqual([1_500, 'fragLoadError'])
  expect((await list(view.videoId)).sessions).toEqual([session])
})

test('events that arrive again are stored once, and sessions do not count as views in reports', async () => {
  const view = newView()
  await Promise.all([sendSession(view, PLAYED), sendSession(view, PLAYED), sendSession(view, PLAYED)])
  expect((await read(view.viewId)).events).toHaveLength(6)
  await fixture.settled()
  const { counts } = await fixture.reports.getVideo({ organisationId: '', videoId: view.videoId, period: undefined }, user)
  expect(counts).toMatchObject({ playerLoads: 0, videoPlays: 0 })
})

test('the quality of player events is preferred, and their errors are added once', async () => {
  const view = newView()
  await sendSession(view, PLAYED)
  const quality = { startupMs: 350, stalls: 2, stalledMs: 900, switches: 5, error: 'media' }
  const failed = [1_000, 2_000].map((ms) => buildEvent({ ...view, atMs: start + 20_000 + ms, positionSeconds: 7, quality }))
  await fixture.send(failed)
  await fixture.settled()
  await fixture.send(failed)
  await fixture.send([buildEvent({ ...view, atMs: start - 5_000, type: 'EVENT_TYPE_LOAD' })])
  await fixture.settled()
  const { session, events } = await read(view.viewId)
  expect(session).toMatchObject({ startMs: start - 5_000, startupMs: 350, stalls: 2, stalledMs: 900, switches: 5, hasError: true })
  const errors = events.filter(({ type }) => type === 'SESSION_EVENT_TYPE_ERROR')
  expect(errors.map(({ atMs, errorCode, positionSeconds }) => [atMs - start, errorCode, positionSeconds])).toEqual([
    [9_000, 'fragLoadError', undefined],
    [21_000, 'media', 7],
  ])
  expect((await list(view.videoId)).sessions).toEqual([session])
})

test('a view without session events is a session, too', async () => {
  const view = newView()
  const quality = { startupMs: 200, stalls: 0, stalledMs: 0, switches: 1, error: '' }
  await fixture.send([buildEvent({ ...view, atMs: start, quality })])
  await fixture.settled()
  const { session, events } = await read(view.viewId)
  expect([session?.startupMs, session?.switches, session?.hasError, events]).toEqual([200, 1, false, []])
  expect((await list(view.videoId)).sessions).toEqual([session])
})

test('sessions of a video are listed page by page, newest first, and once if they start on two days', async () => {
  const videoId = fixture.catalogue.createVideo()
  const viewIds = Array.from({ length: 5 }, () => randomUUID())
  for (const [nth, viewId] of viewIds.entries()) await sendSession({ videoId, viewId }, [state(start + nth, 'PLAYER_STATE_PLAYING')])
  // The second view was paused for 20 days.
  for (const [viewId, days] of [
    [viewIds[0], 1],
    [viewIds[1], 20],
  ] as const) {
    await fixture.db.transaction((tx) => createPartitions(tx, VIEW_SESSIONS, [toDay(start + days * DAY)]))
    await fixture.db.query(
      `insert into view_session (view_id, video_id, organisation_id, day, start_ms)
       select view_id, video_id, organisation_id, day + $2::int, start_ms + $2::int * $3::bigint from view_session where view_id = $1`,
      [viewId, days, DAY],
    )
  }
  const newest = viewIds.toReversed()
  const first = await list(videoId, { pageSize: 2, skip: 1 })
  expect(first.sessions.map(({ viewId }) => viewId)).toEqual(newest.slice(1, 3))
  const second = await list(videoId, { pageSize: 2, pageToken: first.nextPageToken })
  expect([second.sessions.map(({ viewId }) => viewId), second.nextPageToken]).toEqual([newest.slice(3), ''])
  await expect(list(videoId, { pageToken: 'x' })).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'page_token' }] })
})

test('sessions of another organisation are not found, and system users find all', async () => {
  const view = newView('2')
  await sendSession(view, PLAYED)
  for (const call of [user, as('standard', '3')]) {
    await expect(read(view.viewId, call)).rejects.toMatchObject({ kind: 'not_found', reason: 'VIEW_NOT_FOUND' })
    await expect(list(view.videoId, {}, call)).rejects.toMatchObject({ kind: 'not_found', reason: 'VIDEO_NOT_FOUND' })
  }
  for (const viewId of ['x', '', randomUUID()]) await expect(read(viewId)).rejects.toMatchObject({ reason: 'VIEW_NOT_FOUND' })
  for (const call of [as('uploader', '2'), as('system')]) {
    expect((await read(view.viewId, call)).session).toMatchObject(view)
    expect((await list(view.videoId, {}, call)).sessions).toHaveLength(1)
  }
  // Another organisation can use the same view id for its own video, which does not hide the session.
  await sendSession({ ...newView('3'), viewId: view.viewId }, [state(start + 50_000, 'PLAYER_STATE_PLAYING')])
  expect((await read(view.viewId, as('uploader', '2'))).session).toMatchObject(view)
})

describe('a session event', () => {
  test.each<[string, Partial<ReceivedSessionEvent>]>([
    ['no such video', { videoId: '424242' }],
    ['must be a UUID', { viewId: 'x' }],
    ['more than 24 hours ago', { event: state(Date.now() - DAY - 1_000, 'PLAYER_STATE_PLAYING') }],
    ['more than 5 minutes ahead', { event: state(Date.now() + 400_000, 'PLAYER_STATE_PLAYING') }],
    ['is not a state', { event: event({}) }],
    ['type: must be', { event: event({ type: 'SESSION_EVENT_TYPE_STALL' }) }],
    ['rendition_switch: must have', { event: event({ type: 'SESSION_EVENT_TYPE_SWITCH' }) }],
    ['rendition_switch: must have', { event: renditionSwitch(start, 0, 70_000) }],
    ['error_code: must be', { event: error(start, '') }],
    ['error_code: must be', { event: error(start, 'x'.repeat(101)) }],
    ['startup_ms: is required', { event: event({ type: 'SESSION_EVENT_TYPE_STARTUP' }) }],
    ['startup_ms: must be', { event: event({ type: 'SESSION_EVENT_TYPE_STARTUP', startupMs: -1 }) }],
    ['position: must be', { event: { ...state(start, 'PLAYER_STATE_PLAYING'), positionSeconds: -1 } }],
    ['too_many_views', { knownViewOnly: true }],
    ['event: is required', { event: undefined }],
  ])('is rejected with “%s”, and the other events are stored', async (message, change) => {
    const view = newView()
    const good: ReceivedSessionEvent = { ...view, event: state(start, 'PLAYER_STATE_PLAYING'), knownViewOnly: false }
    const result = await fixture.sessions.acceptSessionEvents(
      { events: [{ ...good, ...change }, good], userAgent: 'a browser' },
      serviceCall('gateway', 'r'),
    )
    expect(result).toEqual({ accepted: 1, rejected: [{ index: 0, message: expect.stringContaining(message) }] })
    expect((await read(view.viewId)).events).toHaveLength(1)
  })
  test('of a bot is rejected', async () => {
    const events = [{ ...newView(), event: state(start, 'PLAYER_STATE_PLAYING'), knownViewOnly: false }]
    const request = { events, userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
    expect(await fixture.sessions.acceptSessionEvents(request, serviceCall('gateway', 'r'))).toMatchObject({ accepted: 0 })
  })
  test('is only accepted from a service', async () => {
    const events = [{ ...newView(), event: state(start, 'PLAYER_STATE_PLAYING'), knownViewOnly: false }]
    await expect(fixture.sessions.acceptSessionEvents({ events, userAgent: '' }, user)).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
  })
})

test('a view has at most the maximum number of events, also across batches', async () => {
  const view = newView()
  for (let nth = 0; nth < 6; nth++) {
    const events = Array.from({ length: 100 }, (_, index) => state(start + 100 * nth + index, 'PLAYER_STATE_PAUSED'))
    expect(await sendSession(view, events)).toMatchObject({ accepted: 100 })
  }
  const [row] = await fixture.db.query<{ rows: string }>('select count(*) as rows from session_event where view_id = $1', [view.viewId])
  expect(Number(row?.rows)).toBe(MAX_SESSION_EVENTS)
  expect((await read(view.viewId)).events).toHaveLength(MAX_SESSION_EVENTS)
})

test('sessions of a deleted video are deleted', async () => {
  const [deleted, kept] = [newView(), newView()]
  for (const view of [deleted, kept]) await sendSession(view, PLAYED)
  const store = createViewSessionStore(fixture.db)
  const existing = { organisationId: '1', durationMs: 0 }
  const table = deletedVideoSessions(store, {
    findExisting: async (ids) => new Map(ids.filter((id) => id !== deleted.videoId).map((videoId) => [videoId, { videoId, ...existing }])),
  })
  expect(await table.remove(2_000, new AbortController().signal)).toBe(1)
  expect(await fixture.db.query('select 1 from session_event where video_id = $1', [deleted.videoId])).toEqual([])
  await expect(read(deleted.viewId)).rejects.toMatchObject({ reason: 'VIEW_NOT_FOUND' })
  expect((await read(kept.viewId)).events).toHaveLength(6)
})

test('a session of a deleted video that is not deleted yet is not found', async () => {
  const view = { videoId: '424242', viewId: randomUUID() }
  const fault = buildSessionEvent({ type: 3, atMs: start, errorCode: 'x' })
  await fixture.db.transaction(async (tx) => {
    for (const table of [SESSION_EVENTS, VIEW_SESSIONS]) await createPartitions(tx, table, [toDay(start)])
    await addSessionEvents(tx.query, [{ ...view, organisationId: '1', ...fault }])
  })
  expect(await createViewSessionStore(fixture.db).findStart(view.viewId, '1')).toMatchObject(view)
  await expect(read(view.viewId)).rejects.toMatchObject({ reason: 'VIEW_NOT_FOUND' })
})

test('sessions are deleted with the events of their days', async () => {
  const [old, recent] = [newView(), newView()]
  const { signal } = new AbortController()
  const removeOld = async () => {
    for (const { remove } of analyticsRetention(fixture.db, 30)) await deleteInBatches(remove, { signal })
  }
  await fixture.db.transaction(async (tx) => {
    for (const table of [SESSION_EVENTS, VIEW_SESSIONS]) await createPartitions(tx, table, [toDay(start - 45 * DAY)])
    await addSessionEvents(tx.query, [
      { ...old, organisationId: '1', ...buildSessionEvent({ type: 3, atMs: start - 45 * DAY, errorCode: 'x' }) },
    ])
  })
  await sendSession(recent, PLAYED)
  expect((await read(old.viewId)).events).toHaveLength(1)
  await removeOld()
  await expect(read(old.viewId)).rejects.toMatchObject({ reason: 'VIEW_NOT_FOUND' })
  expect((await read(recent.viewId)).events).toHaveLength(6)
})

test('a spooled line of an earlier version is stored, without switches', async () => {
  const view = newView()
  const quality = { startupMs: 1, stalls: 2, stalledMs: 3, switches: 0, error: '' }
  const received = { ...buildEvent({ ...view, atMs: start, quality }), quality, type: 3 }
  const day = toDay(start)
  const line = toLine(toStoredEvent(received, { organisationId: '1', durationMs: 0, receivedMs: start, visitor: undefined }), day)
  const earlier = line.replace(/\t[^\t]*\t[^\t]*\n$/, '\n')
  await createEventStore(fixture.db).write({ lines: [completeLine(earlier)], days: [day] })
  await fixture.settled()
  expect((await read(view.viewId)).session).toMatchObject({ startupMs: 1, stalls: 2, stalledMs: 3, switches: 0 })
})
