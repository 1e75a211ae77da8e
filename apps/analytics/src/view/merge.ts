import { setImmediate as turn } from 'node:timers/promises'
import type { Db, Query, Transaction } from '@vitascope/postgres'
import type { KeptEvent } from '../event/event.ts'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../event/event-row.ts'
import type { RecentEvents } from '../event/recent-events.ts'
import { arrayOf } from './array-text.ts'
import { contributionOf, dayOf } from './contribution.ts'
import { addContribution, emptyRollUps } from './roll-up.ts'
import { addRollUps } from './roll-up-store.ts'
import { addEvent, emptyPart, isPlay, type ViewPart, wholeView } from './view.ts'
import { addParts, readParts, saveParts } from './view-store.ts'
import { addViewers, type Seen } from './viewer-store.ts'

/** Events of one round, about. */
const MOST_EVENTS = 10_000
/** Views that are merged in one turn of the event loop. */
const VIEWS_AT_ONCE = 500
const LOCK = `hashtext('vitascope analytics merge')`

/**
 * Brings events that are not yet counted into views, and the difference that they make into the roll-ups, all in one transaction. Answers how
 * many there were; undefined when somebody else is at it: one at a time merges, whichever replica that is. Events in `recent` are not read again.
 */
export function mergeRound(
  db: Db,
  { recent, signal }: { recent?: Pick<RecentEvents, 'take'>; signal?: AbortSignal } = {},
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const { query } = tx
    // A merger that stands still for good gives the lock back. Views are found by their keys, however many: a join would read all there are.
    const [lock] = await query<{ mine: boolean }>(
      `select set_config('idle_in_transaction_session_timeout', '10s', true), set_config('enable_hashjoin', 'off', true),
         set_config('enable_mergejoin', 'off', true), pg_try_advisory_xact_lock(${LOCK}) as mine`,
    )
    if (!lock?.mine) return undefined
    const events = await takeEvents(query, recent)
    if (events.length === 0) return 0
    await mergeEvents(tx, events)
    return events.length
  }, signal)
}

/** For the removal of old views, which must not meet the merge. */
export function waitForMerge(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(${LOCK})`)
}

async function takeEvents(query: Query, recent: Pick<RecentEvents, 'take'> | undefined): Promise<readonly KeptEvent[]> {
  const batches = await query<{ batch_id: string; days: string[] }>(
    `delete from pending_batch where batch_id in (
       select batch_id from (
         select batch_id, sum(events) over (order by batch_id) - events as before from
           (select batch_id, events from pending_batch order by batch_id limit 1000) oldest
       ) counted where before < $1
     ) returning batch_id, days::text[]`,
    [MOST_EVENTS],
  )
  const events: KeptEvent[] = []
  const unread = batches.filter(({ batch_id }) => {
    const known = recent?.take(batch_id)
    for (const event of known ?? []) events.push(event)
    return known === undefined
  })
  if (unread.length === 0) return events
  const rows = await query<EventRow>(`select ${EVENT_COLUMNS} from event where batch_id = any ($1::bigint[]) and day = any ($2::date[])`, [
    unread.map((batch) => batch.batch_id),
    [...new Set(unread.flatMap(({ days }) => days))],
  ])
  for (const row of rows) events.push(toEvent(row))
  return events
}

async function mergeEvents({ query, copy }: Transaction, events: readonly KeptEvent[]): Promise<void> {
  const ofView = Map.groupBy(events, keyOf)
  const known = Map.groupBy(
    await readParts(
      query,
      [...ofView.values()].flatMap(([event]) => event ?? []),
    ),
    keyOf,
  )
  const differences = emptyRollUps()
  const changed: ViewPart[] = []
  const added: ViewPart[] = []
  let atOnce = 0
  for (const [key, told] of ofView) {
    // Whoever brings events meanwhile is answered in between.
    if (++atOnce % VIEWS_AT_ONCE === 0) await turn()
    const before = known.get(key) ?? []
    const was = wholeView(before)
    // Made before the parts are changed in place.
    if (was) addContribution(differences, contributionOf(was), -1)
    const now = new Map(before.map((part) => [part.durationMs, part]))
    changed.push(...before)
    for (const event of told) {
      let part = now.get(event.durationMs)
      if (!part) {
        part = emptyPart(event)
        now.set(event.durationMs, part)
        added.push(part)
      }
      addEvent(part, event)
    }
    const view = wholeView([...now.values()])
    if (view) addContribution(differences, contributionOf(view), 1)
  }
  await knowVideos(query, added)
  await addParts(copy, added)
  await saveParts(query, changed)
  await addRollUps(query, differences)
  await addViewers(query, viewersOf(events))
  await noteLive(query, ofView)
}

/** Each once: of those who watch, most events are by somebody who watched a moment ago. */
function viewersOf(events: readonly KeptEvent[]): Seen[] {
  const seen = new Map<string, Seen>()
  for (const event of events) {
    const { visitor, organisationId, videoId } = event
    if (!visitor || !isPlay(event)) continue
    const day = dayOf(event.atMs)
    const key = `${day} ${organisationId} ${videoId} ${Buffer.from(visitor.buffer, visitor.byteOffset, visitor.length).toString('latin1')}`
    if (!seen.has(key)) seen.set(key, { day, organisationId, videoId, visitor })
  }
  return [...seen.values()]
}

/** Reports go by the table of videos: what has views stands in it, also when the copy of the catalogue's answer was lost. */
async function knowVideos(query: Query, parts: readonly ViewPart[]): Promise<void> {
  const videos = [...new Map(parts.map((part) => [part.videoId, part])).values()]
  if (videos.length === 0) return
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

async function noteLive(query: Query, ofView: ReadonlyMap<string, readonly KeptEvent[]>): Promise<void> {
  const rows = [...ofView.values()].flatMap(([first, ...others]) =>
    first ? [{ ...keysOf(first), seenMs: others.reduce((last, { receivedMs }) => Math.max(last, receivedMs), first.receivedMs) }] : [],
  )
  await query(
    `insert into live_view (organisation_id, video_id, view_id, seen_ms)
     select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[]) as row (organisation_id, video_id, view_id, seen_ms)
     where seen_ms > extract(epoch from now()) * 1000 - 120000
     order by 1, 2, 3
     on conflict (organisation_id, video_id, view_id) do update set seen_ms = greatest(live_view.seen_ms, excluded.seen_ms)`,
    [
      arrayOf(rows, ({ organisationId }) => organisationId),
      arrayOf(rows, ({ videoId }) => videoId),
      arrayOf(rows, ({ viewId }) => viewId),
      arrayOf(rows, ({ seenMs }) => seenMs),
    ],
  )
}

function keysOf({ organisationId, videoId, viewId }: KeptEvent) {
  return { organisationId, videoId, viewId }
}
