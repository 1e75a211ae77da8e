import type { Query } from '@vitascope/postgres'
import { DAY_MS, toDay } from './day.ts'

/** The numbers of session event types in the database. */
export const SESSION_EVENT_TYPE = { state: 1, switch: 2, error: 3, startup: 4 } as const

/** One event of a session. Times are in milliseconds, heights in pixels. */
export interface SessionEvent {
  /** A value of SESSION_EVENT_TYPE. */
  type: number
  atMs: number
  positionMs: number | undefined
  /** A number of the proto enum PlayerState. Only in states. */
  state: number | undefined
  /** Only in switches. A value is undefined if the player did not report it. */
  fromHeight: number | undefined
  toHeight: number | undefined
  toKbps: number | undefined
  /** Only in errors. */
  errorCode: string | undefined
  startupMs: number | undefined
}

export interface StoredSessionEvent extends SessionEvent {
  viewId: string
  videoId: string
  organisationId: string
}

/** The start of a view. */
export interface ViewStart {
  viewId: string
  videoId: string
  organisationId: string
  startMs: number
}

/** Maximum number of stored events of a view. Events that are inserted at the same time can exceed it by a few. */
export const MAX_SESSION_EVENTS = 500

/** Returns an event in which the fields that are not given are undefined. */
export function buildSessionEvent(fields: Pick<SessionEvent, 'type' | 'atMs'> & Partial<SessionEvent>): SessionEvent {
  const unknown = { positionMs: undefined, state: undefined, errorCode: undefined, startupMs: undefined }
  return { ...unknown, fromHeight: undefined, toHeight: undefined, toKbps: undefined, ...fields }
}

/** Adds the starts of views that have none on the same day, in one statement. */
export async function addViewStarts(query: Query, starts: readonly ViewStart[]): Promise<void> {
  if (starts.length === 0) return
  await query(
    `insert into view_session (view_id, video_id, organisation_id, day, start_ms)
     select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::date[], $5::bigint[]) order by 1, 2 on conflict do nothing`,
    [
      starts.map(({ viewId }) => viewId),
      starts.map(({ videoId }) => videoId),
      starts.map(({ organisationId }) => organisationId),
      starts.map(({ startMs }) => toDay(startMs)),
      starts.map(({ startMs }) => startMs),
    ],
  )
}

/**
 * Adds events in one statement, up to the maximum of each view. Repeated events have no effect. With
 * `skipsKnownErrors`, an error is only added if its view has no error with this code. A view without
 * events also gets a start.
 */
export async function addSessionEvents(
  query: Query,
  events: readonly StoredSessionEvent[],
  { skipsKnownErrors = false, maxEvents = MAX_SESSION_EVENTS }: { skipsKnownErrors?: boolean; maxEvents?: number } = {},
): Promise<void> {
  if (events.length === 0) return
  const times = events.map(({ atMs }) => atMs)
  // Older events of a view are in other partitions, and only these are searched.
  const searchedDays = [toDay(Math.min(...times) - DAY_MS), toDay(Math.max(...times) + DAY_MS)]
  await query(
    `with received as (
       select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::date[], $5::bigint[], $6::smallint[], $7::int[], $8::smallint[],
         $9::int[], $10::int[], $11::int[], $12::text[], $13::int[]) as row
         (view_id, video_id, organisation_id, day, at_ms, type, position_ms, state, from_height, to_height, to_kbps, error_code, startup_ms)
     ), views as materialized (
       select view_id, video_id, (
         select count(*) from session_event s
         where s.view_id = v.view_id and s.video_id = v.video_id and s.day between $14::date and $15::date
       ) as stored
       from (select distinct view_id, video_id from received) v
     ), numbered as (
       select received.*, stored, stored + row_number() over (partition by view_id, video_id order by at_ms) as number
       from received join views using (view_id, video_id)
       where not ($16 and exists (
         select from session_event s where s.view_id = received.view_id and s.video_id = received.video_id
           and s.day between $14::date and $15::date and s.error_code = received.error_code
       ))
     ), starts as (
       insert into view_session (view_id, video_id, organisation_id, day, start_ms)
       select distinct on (view_id, video_id) view_id, video_id, organisation_id, day, at_ms from numbered where stored = 0
       order by view_id, video_id, at_ms on conflict do nothing
     )
     insert into session_event
       (view_id, video_id, organisation_id, day, at_ms, type, position_ms, state, from_height, to_height, to_kbps, error_code, startup_ms)
     select view_id, video_id, organisation_id, day, at_ms, type, position_ms, state, from_height, to_height, to_kbps, error_code, startup_ms
     from numbered where number <= $17 order by view_id, video_id, at_ms, type on conflict do nothing`,
    [
      events.map(({ viewId }) => viewId),
      events.map(({ videoId }) => videoId),
      events.map(({ organisationId }) => organisationId),
      events.map(({ atMs }) => toDay(atMs)),
      times,
      events.map(({ type }) => type),
      events.map(({ positionMs }) => positionMs),
      events.map(({ state }) => state),
      events.map(({ fromHeight }) => fromHeight),
      events.map(({ toHeight }) => toHeight),
      events.map(({ toKbps }) => toKbps),
      events.map(({ errorCode }) => errorCode),
      events.map(({ startupMs }) => startupMs),
      ...searchedDays,
      skipsKnownErrors,
      maxEvents,
    ],
  )
}
