import type { Db, Query } from '@vitascope/postgres'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../event/event-row.ts'
import { contributionOf, dayOf } from './contribution.ts'
import { addContribution, emptyRollUps } from './roll-up.ts'
import { addRollUps } from './roll-up-store.ts'
import { addEvent, emptyPart, isPlay, type ViewEvent, type ViewPart, wholeView } from './view.ts'
import { lockParts, saveParts } from './view-store.ts'
import { addViewers } from './viewer-store.ts'

/** Events of one round, about. */
const MOST_EVENTS = 10_000
const LOCK = `hashtext('vitascope analytics merge')`

/**
 * Brings events that are not yet counted into views, and the difference that they make into the roll-ups, all in one transaction. Answers how
 * many there were; undefined when somebody else is at it: one at a time merges, whichever replica that is.
 */
export function mergeRound(db: Db, signal?: AbortSignal): Promise<number | undefined> {
  return db.transaction(async ({ query }) => {
    // A merger that stands still for good gives the lock back.
    await query(`set local idle_in_transaction_session_timeout = '10s'`)
    const [lock] = await query<{ mine: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
    if (!lock?.mine) return undefined
    const events = await takeEvents(query)
    if (events.length === 0) return 0
    await mergeEvents(query, events)
    return events.length
  }, signal)
}

/** For the removal of old views, which must not meet the merge. */
export function waitForMerge(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(${LOCK})`)
}

async function takeEvents(query: Query): Promise<ReturnType<typeof toEvent>[]> {
  const batches = await query<{ batch_id: string; days: string[] }>(
    `delete from pending_batch where batch_id in (
       select batch_id from (
         select batch_id, sum(events) over (order by batch_id) - events as before from
           (select batch_id, events from pending_batch order by batch_id limit 1000) oldest
       ) counted where before < $1
     ) returning batch_id, days::text[]`,
    [MOST_EVENTS],
  )
  if (batches.length === 0) return []
  const rows = await query<EventRow>(`select ${EVENT_COLUMNS} from event where batch_id = any ($1::bigint[]) and day = any ($2::date[])`, [
    batches.map((batch) => batch.batch_id),
    [...new Set(batches.flatMap(({ days }) => days))],
  ])
  return rows.map(toEvent)
}

async function mergeEvents(query: Query, events: readonly ReturnType<typeof toEvent>[]): Promise<void> {
  const ofView = new Map<string, ViewEvent[]>()
  for (const event of events) {
    const key = keyOf(event)
    const list = ofView.get(key)
    if (list) list.push(event)
    else ofView.set(key, [event])
  }
  const wanted = [...ofView.values()].flatMap(([event]) => event ?? [])
  const known = Map.groupBy(await lockParts(query, wanted), keyOf)
  const differences = emptyRollUps()
  const parts: ViewPart[] = []
  for (const [key, told] of ofView) {
    const before = known.get(key) ?? []
    const was = wholeView(before)
    // Made before the parts are changed in place.
    if (was) addContribution(differences, contributionOf(was), -1)
    const now = new Map(before.map((part) => [part.durationMs, part]))
    for (const event of told) {
      const part = now.get(event.durationMs) ?? emptyPart(event)
      addEvent(part, event)
      now.set(event.durationMs, part)
    }
    const view = wholeView([...now.values()])
    if (view) addContribution(differences, contributionOf(view), 1)
    parts.push(...now.values())
  }
  await knowVideos(query, parts)
  await saveParts(query, parts)
  await addRollUps(query, differences)
  await addViewers(
    query,
    events
      .filter((event) => isPlay(event))
      .flatMap(({ visitor, ...event }) => (visitor ? { ...event, visitor, day: dayOf(event.atMs) } : [])),
  )
  await noteLive(query, events)
}

/** Reports go by the table of videos: what has views stands in it, also when the copy of the catalogue's answer was lost. */
async function knowVideos(query: Query, parts: readonly ViewPart[]): Promise<void> {
  const videos = [...new Map(parts.map((part) => [part.videoId, part])).values()]
  await query(
    `insert into video (video_id, organisation_id, duration_ms)
     select video_id, organisation_id, nullif(duration_ms, 0)
     from unnest($1::bigint[], $2::bigint[], $3::int[]) as row (video_id, organisation_id, duration_ms)
     order by video_id on conflict do nothing`,
    [videos.map((v) => v.videoId), videos.map((v) => v.organisationId), videos.map((v) => v.durationMs)],
  )
}

function keyOf({ viewId, videoId }: { viewId: string; videoId: string }): string {
  return `${viewId} ${videoId}`
}

async function noteLive(query: Query, events: readonly ReturnType<typeof toEvent>[]): Promise<void> {
  const seen = new Map<string, ReturnType<typeof toEvent>>()
  for (const event of events) {
    const key = keyOf(event)
    if ((seen.get(key)?.receivedMs ?? 0) < event.receivedMs) seen.set(key, event)
  }
  const rows = [...seen.values()]
  await query(
    `insert into live_view (organisation_id, video_id, view_id, seen_ms)
     select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[]) as row (organisation_id, video_id, view_id, seen_ms)
     where seen_ms > extract(epoch from now()) * 1000 - 120000
     order by 1, 2, 3
     on conflict (organisation_id, video_id, view_id) do update set seen_ms = greatest(live_view.seen_ms, excluded.seen_ms)`,
    [rows.map((r) => r.organisationId), rows.map((r) => r.videoId), rows.map((r) => r.viewId), rows.map((r) => r.receivedMs)],
  )
}
