import { expect, test } from '@jest/globals'
import { buildSessionEvent, SESSION_EVENT_TYPE } from '../view/session-event-store.ts'
import { buildTimeline, STALL } from './view-session.ts'

const { state: STATE, switch: SWITCH, error: ERROR, startup: STARTUP } = SESSION_EVENT_TYPE
// The numbers are those of PlayerState.
const [starting, playing, seeking, rebuffering, paused] = [1, 2, 3, 4, 5].map(
  (state) => (atMs: number) => buildSessionEvent({ type: STATE, atMs, state }),
) as [StateAt, StateAt, StateAt, StateAt, StateAt]
type StateAt = (atMs: number) => ReturnType<typeof buildSessionEvent>

test('a stall begins during playback and lasts until the next state', () => {
  const { events, quality } = buildTimeline([
    starting(0),
    playing(300),
    rebuffering(5_000),
    playing(6_200),
    rebuffering(9_000),
    paused(9_500),
  ])
  expect(events.map(({ type, atMs, stalledMs }) => [type, atMs, stalledMs])).toEqual([
    [STATE, 0, undefined],
    [STATE, 300, undefined],
    [STALL, 5_000, 1_200],
    [STATE, 6_200, undefined],
    [STALL, 9_000, 500],
    [STATE, 9_500, undefined],
  ])
  expect(quality).toEqual({ startupMs: 300, stalls: 2, stalledMs: 1_700, switches: 0 })
})

test('waits before the start and after a seek are not stalls, and a stall without an end has no length', () => {
  const waits = buildTimeline([starting(0), rebuffering(100), playing(300), seeking(400), rebuffering(410), playing(900)])
  expect(waits.quality).toMatchObject({ startupMs: 300, stalls: 0 })
  expect(waits.events.map(({ atMs }) => atMs)).toEqual([0, 300, 400, 900])
  const open = buildTimeline([playing(0), rebuffering(100)])
  expect(open.events.at(-1)).toMatchObject({ type: STALL, stalledMs: undefined })
  expect(open.quality).toMatchObject({ stalls: 1, stalledMs: 0 })
})

test('events are ordered by time, and a reported startup time is preferred', () => {
  const { events, quality } = buildTimeline([playing(300), buildSessionEvent({ type: STARTUP, atMs: 310, startupMs: 250 }), starting(0)])
  expect(events.map(({ atMs }) => atMs)).toEqual([0, 300, 310])
  expect(quality.startupMs).toBe(250)
})

test('the first bit rate is not a switch, and a later switch contains the previous bit rate', () => {
  const { events, quality } = buildTimeline([
    buildSessionEvent({ type: SWITCH, atMs: 0, toKbps: 800 }),
    buildSessionEvent({ type: SWITCH, atMs: 10, toKbps: 2_500 }),
    buildSessionEvent({ type: SWITCH, atMs: 20, fromHeight: 720, toHeight: 360 }),
  ])
  expect(events).toMatchObject([
    { atMs: 10, fromKbps: 800, toKbps: 2_500 },
    { atMs: 20, fromHeight: 720, toHeight: 360, fromKbps: 2_500, toKbps: undefined },
  ])
  expect(quality.switches).toBe(2)
})

test('errors are part of the session', () => {
  const { events, hasError } = buildTimeline([buildSessionEvent({ type: ERROR, atMs: 5, errorCode: 'media' })])
  expect([events.length, events[0]?.errorCode, hasError]).toEqual([1, 'media', true])
  expect(buildTimeline([])).toEqual({
    events: [],
    quality: { startupMs: undefined, stalls: 0, stalledMs: 0, switches: 0 },
    hasError: false,
  })
})
