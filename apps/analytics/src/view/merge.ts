import { setImmediate as turn } from 'node:timers/promises'
import { createPartitions, type Db, type Query, type Transaction } from '@vitascope/postgres'
import { toContribution } from './contribution.ts'
import { toDay } from './day.ts'
import { addDimensions } from './dimension-store.ts'
import { EVENT_COLUMNS, type EventRow, toEvent } from './event-row.ts'
import { type LiveView, updateLiveViews } from './live-store.ts'
import { addGrowth } from './organisation-growth.ts'
import { SESSION_EVENTS, VIEW_SESSIONS, VIEWERS, VIEWS } from './partitions.ts'
import { addContribution, emptyRollUps } from './roll-up.ts'
import { addRollUps } from './roll-up-store.ts'
import { addSessionEvents, addViewStarts, buildSessionEvent, SESSION_EVENT_TYPE, type ViewStart } from './session-event-store.ts'
import { addPart, combineParts, type ViewPart } from './view.ts'
import { type BatchedView, batchViews, mergeBatches, toViewKey, type ViewBatch } from './view-batch.ts'
import type { ViewCache } from './view-cache.ts'
import { addParts, readParts, type StoredPart, saveParts } from './view-store.ts'
import { addViewers } from './viewer-store.ts'

/** Maximum number of events per round. The last insert of a round can exceed it. */
const MAX_EVENTS = 10_000
/** Views that are merged per turn of the event loop. */
const VIEWS_PER_TURN = 500
const LOCK = `hashtext('vitascope analytics merge')`

/** Factor by which the limit grows after a successful round. */
const LIMIT_GROWTH = 1.125

/**
 * Returns a function that runs `mergeRound` with an adaptive limit. A failed round halves the limit,
 * because a round that exceeds the statement timeout would fail again and delay all reports.
 * Successful rounds raise the limit again.
 */
export function createMerger(
  db: Db,
  { viewCache, maxEvents = MAX_EVENTS }: { viewCache?: Pick<ViewCache, 'remove'>; maxEvents?: number } = {},
): (signal?: AbortSignal) => Promise<number | undefined> {
  let max = maxEvents
  return async (signal) => {
    try {
      const count = await mergeRound(db, { maxEvents: max, ...(viewCache && { viewCache }), ...(signal && { signal }) })
      if (count !== undefined) max = Math.min(Math.ceil(max * LIMIT_GROWTH), maxEvents)
      return count
    } catch (error) {
      max = Math.max(Math.floor(max / 2), 1)
      throw error
    }
  }
}

/**
 * Merges pending events into views and adds the differences to the roll-ups, in one transaction.
 * Returns the number of events, or undefined if another process is merging. Events whose views are in
 * `viewCache` are not read from the database.
 */
export function mergeRound(
  db: Db,
  { viewCache, maxEvents = MAX_EVENTS, signal }: { viewCache?: Pick<ViewCache, 'remove'>; maxEvents?: number; signal?: AbortSignal } = {},
): Promise<number | undefined> {
  return db.transaction(async (tx) => {
    const { query } = tx
    // The timeout ends a transaction that hangs, which releases its lock. Hash and merge joins are
    // disabled, because they would read the entire table of views.
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

/** Waits until no merge is running. Old views must not be deleted during a merge. */
export function waitForMerge(query: Query): Promise<unknown> {
  return query(`select pg_advisory_xact_lock(${LOCK})`)
}

async function claimEvents(query: Query, maxEvents: number, viewCache: Pick<ViewCache, 'remove'> | undefined): Promise<ViewBatch> {
  const batches = await query<{ batch_id: string; days: string[]; writer: string | null }>(
    `delete from pending_batch where batch_id in (
       select batch_id from (
         select batch_id, sum(events) over (order by batch_id) - events as events_before from
           (select batch_id, events from pending_batch order by batch_id limit 1000) oldest
       ) totals where events_before < $1
     ) returning batch_id, days::text[], writer`,
    [maxEvents],
  )
  const viewBatches: ViewBatch[] = []
  const uncachedBatches = batches.filter(({ batch_id, writer }) => {
    const cached = viewCache?.remove(batch_id, writer)
    viewBatches.push(...(cached ?? []))
    return cached === undefined
  })
  if (uncachedBatches.length > 0) {
    const rows = await query<EventRow>(
      `select ${EVENT_COLUMNS} from event where batch_id = any ($1::bigint[]) and day = any ($2::date[])`,
      [uncachedBatches.map((batch) => batch.batch_id), [...new Set(uncachedBatches.flatMap(({ days }) => days))]],
    )
    viewBatches.push(batchViews(rows.map(toEvent)))
  }
  return mergeBatches(viewBatches)
}

async function mergeViews(tx: Transaction, { views, viewers }: ViewBatch): Promise<void> {
  const { query, copy } = tx
  const storedParts = Map.groupBy(await readParts(query, [...views.values()]), toViewKey)
  const differences = emptyRollUps()
  const changed: (StoredPart & { previousDay: string })[] = []
  const added: StoredPart[] = []
  const starts: ViewStart[] = []
  const live: LiveView[] = []
  let viewCount = 0
  for (const [key, { parts, lastReceivedMs }] of views) {
    // The event loop also serves requests, so a long merge pauses regularly.
    if (++viewCount % VIEWS_PER_TURN === 0) await turn()
    const oldParts = storedParts.get(key) ?? []
    const oldView = combineParts(oldParts)
    // The old contribution is subtracted before the parts are changed in place.
    if (oldView) addContribution(differences, toContribution(oldView), -1)
    const hadPlayed = oldView?.played ?? false
    const newParts: ViewPart[] = []
    for (const part of parts) {
      const storedPart = oldParts.find(({ durationMs }) => durationMs === part.durationMs)
      if (storedPart) addPart(storedPart, part)
      else newParts.push(part)
    }
    // All parts of a view are stored in the partition of the day of its last event.
    const lastDay = toDay([...oldParts, ...newParts].reduce((last, { lastMs }) => Math.max(last, lastMs), 0))
    changed.push(...oldParts.map((part) => ({ ...part, previousDay: part.lastDay, lastDay })))
    added.push(...newParts.map((part) => ({ ...part, lastDay })))
    const view = combineParts([...oldParts, ...newParts])
    if (!view) continue
    addContribution(differences, toContribution(view), 1)
    const { viewId, videoId, organisationId } = view
    if (!oldView) starts.push({ viewId, videoId, organisationId, startMs: view.firstMs })
    const startsToPlay = view.played && !hadPlayed
    live.push({ viewId, videoId, organisationId, lastReceivedMs, isNew: !oldView, startsToPlay })
  }
  await addMissingVideos(query, added)
  await createPartitions(tx, VIEWS, [...new Set([...changed, ...added].map(({ lastDay }) => lastDay))])
  await addParts(copy, added)
  await saveParts(query, changed)
  await addRollUps(query, differences)
  await addDimensions(query, differences)
  const viewerDays = [...viewers.values()]
  await createPartitions(tx, VIEWERS, [...new Set(viewerDays.map(({ day }) => day))])
  await addViewers(query, viewerDays)
  await addSessions(tx, starts, [...views.values()])
  await updateLiveViews(query, live)
  await addGrowth(query, views.values(), added)
}

/** Adds the starts of new views, and the errors of all views. Most merges have no errors. */
async function addSessions(tx: Transaction, starts: readonly ViewStart[], views: readonly BatchedView[]): Promise<void> {
  const errors = views.flatMap(({ viewId, videoId, organisationId, errors }) =>
    [...(errors ?? [])].map(([errorCode, { atMs, positionMs }]) => ({
      ...{ viewId, videoId, organisationId },
      ...buildSessionEvent({ type: SESSION_EVENT_TYPE.error, atMs, positionMs, errorCode }),
    })),
  )
  const errorDays = errors.map(({ atMs }) => toDay(atMs))
  await createPartitions(tx, VIEW_SESSIONS, [...new Set([...starts.map(({ startMs }) => toDay(startMs)), ...errorDays])])
  await addViewStarts(tx.query, starts)
  if (errors.length === 0) return
  await createPartitions(tx, SESSION_EVENTS, [...new Set(errorDays)])
  await addSessionEvents(tx.query, errors, { skipsKnownErrors: true })
}

/**
 * Adds a row for every video with views that has none. Reports join the table of videos, and the data
 * of the catalogue may not have been stored yet.
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
