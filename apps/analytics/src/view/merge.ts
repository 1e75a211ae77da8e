import { setImmediate as turn } from 'node:timers/promises'
import { type Db, makePartitions, type Query, type Transaction } from '@vitascope/postgres'
import { arrayOf } from './array-text.ts'
import { contributionOf, dayOf } from './contribution.ts'
import { EVENT_COLUMNS, type EventRow, toEvent } from './event-row.ts'
import { addGrowth } from './organisation-growth.ts'
import { VIEWERS, VIEWS } from './partitions.ts'
import { addContribution, emptyRollUps } from './roll-up.ts'
import { addRollUps } from './roll-up-store.ts'
import { addPart, combineParts, type ViewPart } from './view.ts'
import { type BatchedView, batchViews, mergeBatches, type ViewBatch, viewKey } from './view-batch.ts'
import type { ViewCache } from './view-cache.ts'
import { addParts, readParts, type StoredPart, saveParts } from './view-store.ts'
import { addViewers } from './viewer-store.ts'

/** Approximate number of events per round. */
const MAX_EVENTS = 10_000
/** Views that are merged per turn of the event loop. */
const VIEWS_AT_ONCE = 500
const LOCK = `hashtext('vitascope analytics merge')`

/** Factor by which the limit grows after a successful round. */
const GROWTH = 1.125

/**
 * Returns a function that runs `mergeRound` with an adaptive limit. A failed round halves the
 * limit, down to one insert, because a round that exceeds the statement timeout would fail again
 * and block all reports. Successful rounds raise the limit again.
 */
export function createMerger(
  db: Db,
  { viewCache, maxEvents = MAX_EVENTS }: { viewCache?: Pick<ViewCache, 'take'>; maxEvents?: number } = {},
): (signal?: AbortSignal) => Promise<number | undefined> {
  let max = maxEvents
  return async (signal) => {
    try {
      const count = await mergeRound(db, { maxEvents: max, ...(viewCache && { viewCache }), ...(signal && { signal }) })
      if (count !== undefined) max = Math.min(Math.ceil(max * GROWTH), maxEvents)
      return count
    } catch (error) {
      max = Math.max(Math.floor(max / 2), 1)
      throw error
    }
  }
}

/**
 * Merges pending events into views, and adds the difference to the roll-ups, in one transaction.
 * Returns the number of events, or undefined if another process or replica is merging. Events whose
 * views are in `viewCache` are not read again.
 */
export function mergeRound(
  db: Db,
  { viewCache, maxEvents = MAX_EVENTS, signal }: { viewCache?: Pick<ViewCache, 'take'>; maxEvents?: number; signal?: AbortSignal } = {},
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const { query } = tx
    // The timeout releases the lock of a merger that hangs. Hash and merge joins are disabled, so
    // that views are found by key instead of reading the whole table.
    const [lock] = await query<{ acquired: boolean }>(
      `select set_config('idle_in_transaction_session_timeout', '10s', true), set_config('enable_hashjoin', 'off', true),
         set_config('enable_mergejoin', 'off', true), pg_try_advisory_xact_lock(${LOCK}) as acquired`,
    )
    if (!lock?.acquired) return undefined
    const batch = await claimEvents(query, maxEvents, viewCache)
    if (batch.events > 0) await mergeViews(tx, batch)
    return batch.events
  }, signal)
}

/** Waits until no merge is running. Old views must not be removed during a merge. */
export function waitForMerge(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(${LOCK})`)
}

async function claimEvents(query: Query, maxEvents: number, viewCache: Pick<ViewCache, 'take'> | undefined): Promise<ViewBatch> {
  const batches = await query<{ batch_id: string; days: string[]; writer: string | null }>(
    `delete from pending_batch where batch_id in (
       select batch_id from (
         select batch_id, sum(events) over (order by batch_id) - events as before from
           (select batch_id, events from pending_batch order by batch_id limit 1000) oldest
       ) counted where before < $1
     ) returning batch_id, days::text[], writer`,
    [maxEvents],
  )
  const parts: ViewBatch[] = []
  const unread = batches.filter(({ batch_id, writer }) => {
    const known = viewCache?.take(batch_id, writer)
    parts.push(...(known ?? []))
    return known === undefined
  })
  if (unread.length > 0) {
    const rows = await query<EventRow>(
      `select ${EVENT_COLUMNS} from event where batch_id = any ($1::bigint[]) and day = any ($2::date[])`,
      [unread.map((batch) => batch.batch_id), [...new Set(unread.flatMap(({ days }) => days))]],
    )
    parts.push(batchViews(rows.map(toEvent)))
  }
  return mergeBatches(parts)
}

async function mergeViews(tx: Transaction, { views, viewers }: ViewBatch): Promise<void> {
  const { query, copy } = tx
  const known = Map.groupBy(await readParts(query, [...views.values()]), viewKey)
  const differences = emptyRollUps()
  const changed: (StoredPart & { previousDay: string })[] = []
  const added: StoredPart[] = []
  let viewCount = 0
  for (const [key, { parts }] of views) {
    // Yields to the event loop, so that requests are answered during a merge.
    if (++viewCount % VIEWS_AT_ONCE === 0) await turn()
    const stored = known.get(key) ?? []
    const oldView = combineParts(stored)
    // Subtract the old contribution before the parts are changed in place.
    if (oldView) addContribution(differences, contributionOf(oldView), -1)
    const newParts: ViewPart[] = []
    for (const part of parts) {
      const same = stored.find(({ durationMs }) => durationMs === part.durationMs)
      if (same) addPart(same, part)
      else newParts.push(part)
    }
    // All parts of a view are stored in the partition of the day of its last event.
    const lastDay = dayOf([...stored, ...newParts].reduce((last, { lastMs }) => Math.max(last, lastMs), 0))
    changed.push(...stored.map((part) => ({ ...part, previousDay: part.lastDay, lastDay })))
    added.push(...newParts.map((part) => ({ ...part, lastDay })))
    const view = combineParts([...stored, ...newParts])
    if (view) addContribution(differences, contributionOf(view), 1)
  }
  await addMissingVideos(query, added)
  await makePartitions(tx, VIEWS, [...new Set([...changed, ...added].map(({ lastDay }) => lastDay))])
  await addParts(copy, added)
  await saveParts(query, changed)
  await addRollUps(query, differences)
  const seen = [...viewers.values()]
  await makePartitions(tx, VIEWERS, [...new Set(seen.map(({ day }) => day))])
  await addViewers(query, seen)
  await updateLiveViews(query, [...views.values()])
  await addGrowth(query, views.values(), added)
}

/**
 * Reports are based on the table of videos, so every video with views needs a row, even if the
 * catalogue's data was not stored.
 */
async function addMissingVideos(query: Query, parts: readonly ViewPart[]): Promise<void> {
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

async function updateLiveViews(query: Query, views: readonly BatchedView[]): Promise<void> {
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
