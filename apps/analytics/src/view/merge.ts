import { setImmediate as turn } from 'node:timers/promises'
import type { Db, Query, Transaction } from '@vitascope/postgres'
import { EVENT_COLUMNS, type EventRow, toEvent } from '../event/event-row.ts'
import type { RecentViews } from '../event/recent-views.ts'
import { arrayOf } from './array-text.ts'
import { contributionOf } from './contribution.ts'
import { type Gathered, type GatheredView, gather, united, viewKey } from './gathered.ts'
import { addContribution, emptyRollUps } from './roll-up.ts'
import { addRollUps } from './roll-up-store.ts'
import { addPart, type ViewPart, wholeView } from './view.ts'
import { addParts, readParts, saveParts } from './view-store.ts'
import { addViewers } from './viewer-store.ts'

/** Events of one round, about. */
const MOST_EVENTS = 10_000
/** Views that are merged in one turn of the event loop. */
const VIEWS_AT_ONCE = 500
const LOCK = `hashtext('vitascope analytics merge')`

/** After a round that succeeded, the next may be so much larger. */
const GROWTH = 1.125

/**
 * Merges round after round: answers as `mergeRound` does. A round that failed is halved for the next time, down to one insert, since what was too
 * much for the time of a statement would be so again, and no report would move; with each that succeeds rounds grow again.
 */
export function createMerger(
  db: Db,
  { recent, mostEvents = MOST_EVENTS }: { recent?: Pick<RecentViews, 'take'>; mostEvents?: number } = {},
): (signal?: AbortSignal) => Promise<number | undefined> {
  let most = mostEvents
  return async (signal) => {
    try {
      const count = await mergeRound(db, { mostEvents: most, ...(recent && { recent }), ...(signal && { signal }) })
      if (count !== undefined) most = Math.min(Math.ceil(most * GROWTH), mostEvents)
      return count
    } catch (error) {
      most = Math.max(Math.floor(most / 2), 1)
      throw error
    }
  }
}

/**
 * Brings events that are not yet counted into views, and the difference that they make into the roll-ups, all in one transaction. Answers how
 * many there were; undefined when somebody else is at it: one at a time merges, whichever replica that is. Events whose views are in `recent` are not read again.
 */
export function mergeRound(
  db: Db,
  { recent, mostEvents = MOST_EVENTS, signal }: { recent?: Pick<RecentViews, 'take'>; mostEvents?: number; signal?: AbortSignal } = {},
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const { query } = tx
    // A merger that stands still for good gives the lock back. Views are found by their keys, however many: a join would read all there are.
    const [lock] = await query<{ mine: boolean }>(
      `select set_config('idle_in_transaction_session_timeout', '10s', true), set_config('enable_hashjoin', 'off', true),
         set_config('enable_mergejoin', 'off', true), pg_try_advisory_xact_lock(${LOCK}) as mine`,
    )
    if (!lock?.mine) return undefined
    const gathered = await takeEvents(query, mostEvents, recent)
    if (gathered.events > 0) await mergeViews(tx, gathered)
    return gathered.events
  }, signal)
}

/** For the removal of old views, which must not meet the merge. */
export function waitForMerge(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(${LOCK})`)
}

async function takeEvents(query: Query, mostEvents: number, recent: Pick<RecentViews, 'take'> | undefined): Promise<Gathered> {
  const batches = await query<{ batch_id: string; days: string[]; writer: string | null }>(
    `delete from pending_batch where batch_id in (
       select batch_id from (
         select batch_id, sum(events) over (order by batch_id) - events as before from
           (select batch_id, events from pending_batch order by batch_id limit 1000) oldest
       ) counted where before < $1
     ) returning batch_id, days::text[], writer`,
    [mostEvents],
  )
  const gathered: Gathered[] = []
  const unread = batches.filter(({ batch_id, writer }) => {
    const known = recent?.take(batch_id, writer)
    gathered.push(...(known ?? []))
    return known === undefined
  })
  if (unread.length > 0) {
    const rows = await query<EventRow>(
      `select ${EVENT_COLUMNS} from event where batch_id = any ($1::bigint[]) and day = any ($2::date[])`,
      [unread.map((batch) => batch.batch_id), [...new Set(unread.flatMap(({ days }) => days))]],
    )
    gathered.push(gather(rows.map(toEvent)))
  }
  return united(gathered)
}

async function mergeViews({ query, copy }: Transaction, { views, viewers }: Gathered): Promise<void> {
  const known = Map.groupBy(await readParts(query, [...views.values()]), viewKey)
  const differences = emptyRollUps()
  const changed: ViewPart[] = []
  const added: ViewPart[] = []
  let atOnce = 0
  for (const [key, { parts }] of views) {
    // Whoever brings events meanwhile is answered in between.
    if (++atOnce % VIEWS_AT_ONCE === 0) await turn()
    const before = known.get(key) ?? []
    const was = wholeView(before)
    // Made before the parts are changed in place.
    if (was) addContribution(differences, contributionOf(was), -1)
    const fresh: ViewPart[] = []
    for (const part of parts) {
      const same = before.find(({ durationMs }) => durationMs === part.durationMs)
      if (same) addPart(same, part)
      else fresh.push(part)
    }
    changed.push(...before)
    added.push(...fresh)
    const view = wholeView([...before, ...fresh])
    if (view) addContribution(differences, contributionOf(view), 1)
  }
  await knowVideos(query, added)
  await addParts(copy, added)
  await saveParts(query, changed)
  await addRollUps(query, differences)
  await addViewers(query, [...viewers.values()])
  await noteLive(query, [...views.values()])
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

async function noteLive(query: Query, views: readonly GatheredView[]): Promise<void> {
  await query(
    `insert into live_view (organisation_id, video_id, view_id, seen_ms)
     select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[]) as row (organisation_id, video_id, view_id, seen_ms)
     where seen_ms > extract(epoch from now()) * 1000 - 120000
     order by 1, 2, 3
     on conflict (organisation_id, video_id, view_id) do update set seen_ms = greatest(live_view.seen_ms, excluded.seen_ms)`,
    [
      arrayOf(views, ({ organisationId }) => organisationId),
      arrayOf(views, ({ videoId }) => videoId),
      arrayOf(views, ({ viewId }) => viewId),
      arrayOf(views, ({ seenMs }) => seenMs),
    ],
  )
}
