import { createHash } from 'node:crypto'
import { addressBudget, type BudgetFactory, type BudgetHeaders, type Limits, RateLimited } from '@vitascope/rate-limit'
import { LRUCache } from 'lru-cache'
import type { Limiter, Payer } from './limiter.ts'

/** The fields of a player event that decide its cost. */
export interface CountedEvent {
  video_id: string
  view_id: string
  /** Time of the event in milliseconds since 1970-01-01 00:00 UTC. */
  at: number
  watched?: readonly unknown[] | undefined
  rewatched?: readonly unknown[] | undefined
  language?: string | undefined
  subtitle?: string | undefined
  referrer?: string | undefined
  qoe?: { error?: string | undefined } | undefined
}

/**
 * Runs `send` with the indexes of those events that count only if their view is already stored, and
 * returns its result. Throws `RateLimited` without running it when the events exceed a budget.
 * `malformed` is the number of events of the request that are rejected in any case.
 */
export type EventAdmission = <T>(
  events: readonly CountedEvent[],
  request: { userAgent: string; malformed: number },
  send: (knownViewOnly: ReadonlySet<number>) => Promise<T>,
) => Promise<T>

interface Sender {
  payer: Payer
  address: string
  userAgent: string
  /**
   * Number of events of the request that are rejected in any case. They cost points and no bytes.
   */
  malformed: number
}

/** Budgets for player events, by the cost of processing and of storage. */
export interface EventBudgets {
  admit<T>(
    events: readonly CountedEvent[],
    sender: Sender,
    send: (knownViewOnly: ReadonlySet<number>) => Promise<T>,
  ): Promise<{ result: T; headers: BudgetHeaders }>
}

/** An event costs one point, plus one for each this many intervals. */
const INTERVALS_PER_POINT = 10
const VIEWS_WINDOW_SECONDS = 60
/**
 * Bytes are counted in windows of 5 minutes. An hour overlaps at most 13 windows, so a window has
 * 1/13 of the hourly budget.
 */
const BYTES_WINDOW_SECONDS = 300
const WINDOWS_PER_HOUR = 13
const MEGABYTE = 1_000_000
const DAY_MS = 86_400_000
/**
 * Maximum number of views, viewers and languages whose cost this gateway remembers: about 20 MB.
 */
const MAX_CHARGED = 150_000

/**
 * Bytes of tables and indexes in analytics, as upper bounds of measurements
 * (e2e/event-growth.test.ts): rows of the event itself, of its error in the session of the view, of
 * its view with the start of the session, of its viewer, of the daily counts by language, and of those by
 * the dimensions of the client.
 */
const BYTES = { event: 210, interval: 8, error: 180, view: 1_100, viewer: 340, counts: 1_300, dimensions: 2_400 }

export function createEventBudgets(limits: Limits | 'off', limiter: Limiter, createBudget: BudgetFactory): EventBudgets {
  if (limits === 'off') return { admit: async (_events, _sender, send) => ({ result: await send(new Set()), headers: {} }) }
  const capacity = limits.events * limits.burst
  const maxBytes = Math.floor((limits.event_mb * MEGABYTE) / WINDOWS_PER_HOUR)
  const bytes = addressBudget(createBudget, 'event_bytes', { points: maxBytes, duration: BYTES_WINDOW_SECONDS })
  const views = addressBudget(createBudget, 'views', { points: limits.views, duration: VIEWS_WINDOW_SECONDS })
  const charged = new LRUCache<string, true>({ max: MAX_CHARGED })

  /** Consumes up to `count` new views of a video, and returns how many were available. */
  const consumeNewViews = async (address: string, videoId: string, count: number): Promise<number> => {
    try {
      await views.consume(address, count, videoId)
      return count
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error
      const remaining = Math.min(count - 1, error.remaining)
      return remaining > 0 ? await consumeNewViews(address, videoId, remaining) : 0
    }
  }
  /**
   * Returns the indexes of events of new views beyond the budgets of their videos. Adds the number of consumed views of each
   * video to `consumedViews`.
   */
  const findExcessEvents = async (
    events: readonly CountedEvent[],
    address: string,
    consumedViews: Map<string, number>,
  ): Promise<Set<number>> => {
    const newViews = new Map<string, Map<string, number[]>>()
    for (const [index, event] of events.entries()) {
      const key = viewKey(event)
      if (charged.has(key)) continue
      const viewsOfVideo = newViews.get(event.video_id) ?? new Map<string, number[]>()
      newViews.set(event.video_id, viewsOfVideo)
      viewsOfVideo.set(key, [...(viewsOfVideo.get(key) ?? []), index])
    }
    const excessEvents = [...newViews].map(async ([videoId, viewsOfVideo]) => {
      const available = await consumeNewViews(address, videoId, viewsOfVideo.size)
      if (available > 0) consumedViews.set(videoId, available)
      return [...viewsOfVideo.values()].slice(available).flat()
    })
    return new Set((await Promise.all(excessEvents)).flat())
  }
  /**
   * Returns the bytes that the events may add to the database, and the rows that this cost
   * includes.
   */
  const computeCost = (events: readonly CountedEvent[], viewer: string, knownViewOnly: ReadonlySet<number>) => {
    const rows = new Map<string, number>()
    let cost = 0
    for (const [index, event] of events.entries()) {
      cost += estimateBytes(event)
      if (knownViewOnly.has(index)) continue
      for (const [key, size] of listRows(event, viewer)) if (!charged.has(key)) rows.set(key, size)
    }
    for (const size of rows.values()) cost += size
    // The cost is capped, because a request above the whole budget could never succeed.
    return { rows, cost: Math.min(cost, maxBytes) }
  }

  return {
    async admit(events, { payer, address, userAgent, malformed }, send) {
      // The request itself already consumed one point.
      const points = Math.min(computePoints(events) + malformed, capacity) - 1
      const headers = points > 0 ? await limiter.consume(payer, 'event', points) : {}
      const viewer = createHash('sha1').update(`${address} ${userAgent}`).digest('base64')
      const maxCost = computeCost(events, viewer, new Set())
      await bytes.consume(address, maxCost.cost)
      let consumed = maxCost.cost
      const consumedViews = new Map<string, number>()
      try {
        const excessEvents = await findExcessEvents(events, address, consumedViews)
        const { rows, cost } = excessEvents.size === 0 ? maxCost : computeCost(events, viewer, excessEvents)
        if (cost < consumed) await bytes.refund(address, consumed - cost)
        consumed = cost
        const result = await send(excessEvents)
        for (const key of rows.keys()) charged.set(key, true)
        return { result, headers }
      } catch (error) {
        // The events were not stored, and the player sends them again.
        await bytes.refund(address, consumed)
        for (const [videoId, count] of consumedViews) await views.refund(address, count, videoId)
        throw error
      }
    },
  }
}

function computePoints(events: readonly CountedEvent[]): number {
  let intervals = 0
  for (const { watched, rewatched } of events) intervals += (watched?.length ?? 0) + (rewatched?.length ?? 0)
  return events.length + Math.floor(intervals / INTERVALS_PER_POINT)
}

/**
 * Returns the bytes of the event itself, and of its error, which is also stored in the session. A
 * UTF-16 unit has at most three bytes.
 */
function estimateBytes({ watched, rewatched, qoe, referrer = '' }: CountedEvent): number {
  const error = qoe?.error ? BYTES.error + 2 * 3 * qoe.error.length : 0
  return BYTES.event + referrer.length + BYTES.interval * ((watched?.length ?? 0) + (rewatched?.length ?? 0)) + error
}

/**
 * Returns the additional rows that the event may create. Each is charged once, to the first sender
 * that needs it.
 */
function listRows(event: CountedEvent, viewer: string): [key: string, bytes: number][] {
  const { video_id: videoId, language = '', subtitle = '', referrer = '' } = event
  const day = Math.floor(event.at / DAY_MS)
  return [
    [viewKey(event), BYTES.view],
    [`${viewer}${day} ${videoId}`, BYTES.viewer],
    [`${day} ${videoId} ${language} ${subtitle}`, BYTES.counts],
    [`referrer ${day} ${videoId} ${referrer}`, BYTES.dimensions],
  ]
}

function viewKey({ video_id: videoId, view_id: viewId }: CountedEvent): string {
  return `${viewId.toLowerCase()} ${videoId}`
}
