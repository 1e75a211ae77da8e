import type { Db, Query } from '@vitascope/postgres'
import { toArrayText } from '../view/array-text.ts'
import { MAX_SESSION_EVENTS, type SessionEvent, type ViewStart } from '../view/session-event-store.ts'
import { combineParts, type ViewPart } from '../view/view.ts'
import { toViewKey } from '../view/view-batch.ts'
import { readParts } from '../view/view-store.ts'

/** Position in a list of sessions, newest first. */
export interface SessionPosition {
  startMs: string
  viewId: string
}

export interface ViewSessionStore {
  /**
   * Returns the view with this id that started last. With `organisationId`, only views of this
   * organisation are found.
   */
  findStart(viewId: string, organisationId: string | null): Promise<ViewStart | undefined>
  /** Returns the starts of the views of a video after a position, newest first. */
  listStarts(videoId: string, page: { after: SessionPosition | undefined; limit: number; skip: number }): Promise<ViewStart[]>
  /** Returns the views that player events have created, by the result of `toViewKey`. */
  readViews(views: readonly ViewStart[]): Promise<Map<string, ViewPart>>
  /** Returns the first events of each view, by the result of `toViewKey`. */
  readEvents(views: readonly ViewStart[]): Promise<Map<string, SessionEvent[]>>
  /** Returns up to `limit` ids of videos with sessions, in ascending order. */
  listVideoIds(afterId: string, limit: number): Promise<string[]>
  /** Deletes up to `limit` sessions of these videos, and returns their number. */
  removeSessions(videoIds: readonly string[], limit: number): Promise<number>
}

interface StartRow {
  view_id: string
  video_id: string
  organisation_id: string
  start_ms: string
}

interface EventRow {
  view_id: string
  video_id: string
  type: number
  at_ms: string
  position_ms: number | null
  state: number | null
  from_height: number | null
  to_height: number | null
  to_kbps: number | null
  error_code: string | null
  startup_ms: number | null
}

/**
 * Number of days before a start in which an earlier start of its view is searched. A page can stay open for days, and its
 * view gets another start if playback continues after more than a day.
 */
const EARLIER_DAYS = 28

export function createViewSessionStore(db: Db): ViewSessionStore {
  return {
    async findStart(viewId, organisationId) {
      const [row] = await db.query<StartRow>(
        `select $1::uuid as view_id, video_id, organisation_id, min(start_ms) as start_ms from (
           select video_id, organisation_id, first_ms as start_ms from view where view_id = $1
           union all select video_id, organisation_id, start_ms from view_session where view_id = $1
         ) found where $2::bigint is null or organisation_id = $2
         group by video_id, organisation_id order by 4 desc, video_id limit 1`,
        [viewId, organisationId],
      )
      return row && toStart(row)
    },
    async listStarts(videoId, { after, limit, skip }) {
      const rows = await db.query<StartRow>(
        `select view_id, video_id, organisation_id, start_ms from view_session s
         where video_id = $1 and ($2::bigint is null or (start_ms, view_id) < ($2, $3::uuid)) and not exists (
           select from view_session earlier where earlier.view_id = s.view_id and earlier.video_id = s.video_id
             and earlier.day >= s.day - ${EARLIER_DAYS} and earlier.day < s.day
         ) order by start_ms desc, view_id desc limit $4 offset $5`,
        [videoId, after?.startMs ?? null, after?.viewId ?? null, limit, skip],
      )
      return rows.map(toStart)
    },
    async readViews(views) {
      const viewsByKey = new Map<string, ViewPart>()
      const parts = views.length === 0 ? [] : await readParts(db.query, views)
      for (const [key, partsOfView] of Map.groupBy(parts, toViewKey)) {
        const view = combineParts(partsOfView)
        if (view) viewsByKey.set(key, view)
      }
      return viewsByKey
    },
    async readEvents(views) {
      const rows = views.length === 0 ? [] : await readEventRows(db.query, views)
      return new Map(
        [...Map.groupBy(rows, (row) => toViewKey({ viewId: row.view_id, videoId: row.video_id }))].map(([key, rowsOfView]) => [
          key,
          rowsOfView.map(toSessionEvent),
        ]),
      )
    },
    async listVideoIds(afterId, limit) {
      // Each step of the recursion finds the next id in the index, instead of reading all rows.
      const rows = await db.query<{ video_id: string }>(
        `with recursive found (video_id) as (
           (select video_id from view_session where video_id > $1 order by video_id limit 1)
           union all
           select (select s.video_id from view_session s where s.video_id > found.video_id order by s.video_id limit 1)
           from found where found.video_id is not null
         ) select video_id from found where video_id is not null limit $2`,
        [afterId, limit],
      )
      return rows.map(({ video_id }) => video_id)
    },
    async removeSessions(videoIds, limit) {
      const rows = await db.query(
        `with removed as (
           delete from view_session where (view_id, video_id, day) in (
             select view_id, video_id, day from view_session where video_id = any ($1::bigint[]) limit $2
           ) returning view_id, video_id
         ), events as (
           delete from session_event s using removed where s.view_id = removed.view_id and s.video_id = removed.video_id
         ) select 1 from removed`,
        [videoIds, limit],
      )
      return rows.length
    },
  }
}

function readEventRows(query: Query, views: readonly ViewStart[]): Promise<EventRow[]> {
  return query<EventRow>(
    `select s.* from unnest($1::uuid[], $2::bigint[]) searched (view_id, video_id), lateral (
       select view_id, video_id, type, at_ms, position_ms, state, from_height, to_height, to_kbps, error_code, startup_ms
       from session_event e where e.view_id = searched.view_id and e.video_id = searched.video_id
       order by at_ms, type limit ${MAX_SESSION_EVENTS}
     ) s`,
    [toArrayText(views, ({ viewId }) => viewId), toArrayText(views, ({ videoId }) => videoId)],
  )
}

function toStart(row: StartRow): ViewStart {
  return { viewId: row.view_id, videoId: row.video_id, organisationId: row.organisation_id, startMs: Number(row.start_ms) }
}

function toSessionEvent(row: EventRow): SessionEvent {
  return {
    type: row.type,
    atMs: Number(row.at_ms),
    positionMs: row.position_ms ?? undefined,
    state: row.state ?? undefined,
    fromHeight: row.from_height ?? undefined,
    toHeight: row.to_height ?? undefined,
    toKbps: row.to_kbps ?? undefined,
    errorCode: row.error_code ?? undefined,
    startupMs: row.startup_ms ?? undefined,
  }
}
