import { SESSION_EVENT_TYPE, type SessionEvent } from '../view/session-event-store.ts'
import type { Quality } from '../view/view.ts'

/** The number of a stall, which is not stored but derived from states. */
export const STALL = 5

/** An event of a session as it is returned: a stored event or a stall. */
export interface TimelineEvent extends SessionEvent {
  /** Bit rate before a switch. */
  fromKbps: number | undefined
  /** Length of a stall. Undefined if its end is unknown. */
  stalledMs: number | undefined
}

export interface SessionTimeline {
  events: TimelineEvent[]
  quality: Quality
  hasError: boolean
}

/** Numbers of PlayerState. */
const STARTING = 1
const PLAYING = 2
const REBUFFERING = 4

/**
 * Returns the events of a session in order, and the quality that follows from them. The state
 * REBUFFERING after PLAYING becomes a stall, which ends with the next state. In other places it is a
 * wait before the start or after a seek, and is omitted. The first report of a bit rate is the first
 * rendition and not a switch.
 */
export function buildTimeline(storedEvents: readonly SessionEvent[]): SessionTimeline {
  const sorted = storedEvents.toSorted((a, b) => a.atMs - b.atMs || a.type - b.type)
  const events: TimelineEvent[] = []
  let state: SessionEvent | undefined
  let startingMs: number | undefined
  let startupMs: number | undefined
  let measuredStartupMs: number | undefined
  let kbps: number | undefined
  let stall: TimelineEvent | undefined
  for (const event of sorted) {
    startupMs ??= event.startupMs
    const timelineEvent: TimelineEvent = { ...event, fromKbps: undefined, stalledMs: undefined }
    if (event.type === SESSION_EVENT_TYPE.switch) {
      const isFirstRendition = event.fromHeight === undefined && kbps === undefined
      if (!isFirstRendition) events.push({ ...timelineEvent, fromKbps: kbps })
      kbps = event.toKbps ?? kbps
      continue
    }
    if (event.type !== SESSION_EVENT_TYPE.state) {
      events.push(timelineEvent)
      continue
    }
    if (stall) stall.stalledMs ??= event.atMs - stall.atMs
    if (event.state === STARTING) startingMs ??= event.atMs
    if (event.state === PLAYING && startingMs !== undefined) measuredStartupMs ??= event.atMs - startingMs
    if (event.state !== REBUFFERING) {
      stall = undefined
      events.push(timelineEvent)
    } else if (state?.state === PLAYING) {
      stall = { ...timelineEvent, type: STALL, state: undefined }
      events.push(stall)
    }
    state = event
  }
  const stalls = events.filter(({ type }) => type === STALL)
  return {
    events,
    quality: {
      startupMs: startupMs ?? measuredStartupMs,
      stalls: stalls.length,
      stalledMs: stalls.reduce((sum, { stalledMs = 0 }) => sum + stalledMs, 0),
      switches: events.filter(({ type }) => type === SESSION_EVENT_TYPE.switch).length,
    },
    hasError: events.some(({ type }) => type === SESSION_EVENT_TYPE.error),
  }
}
