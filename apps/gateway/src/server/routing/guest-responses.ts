import type { Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'
import type { GuestCacheRule } from '../route/route.ts'
import type { PreparedResponse } from './send-response.ts'

/**
 * The responses of routes with `sharedByGuests`. Concurrent requests for the same URL share one
 * response. A response with a cache rule is reused until the data that it contains changes
 * (ADR 0029). Catalogue streams the changes. A cached response is used only if the stream confirmed
 * less than `MAX_UNCONFIRMED_MS` ago that no change is missing.
 */
export interface GuestResponses {
  /** Returns the cached response for a URL, or the one that is being created, or else creates it. */
  get(url: string, create: () => Promise<CreatedResponse>): Promise<PreparedResponse>
  /**
   * Called after each change by the holder of a key. Later requests receive only responses that
   * contain the change. `organisationId` is undefined if the change may concern every organisation.
   */
  requireFresh(organisationId: string | undefined): void
  /** Deletes the responses that a change concerns. Called for each message of the stream. */
  apply(changes: PublicChanges): void
  /**
   * Deletes all responses, and caches none until the next message of the stream. Called when changes
   * may have been missed.
   */
  clear(): void
}

export interface CreatedResponse {
  response: PreparedResponse
  /** Undefined for a response that must not be cached. */
  rule: GuestCacheRule | undefined
}

export interface PublicChanges {
  videoIds: readonly string[]
  organisationIds: readonly string[]
  /** Milliseconds on the clock of the sender until which the stream is complete. */
  completeUntilMs: number
}

interface Entry {
  url: string
  response: PreparedResponse
  rule: GuestCacheRule
  /** Time on the monotonic clock at which its data was requested. */
  requestedMs: number
}

interface Load {
  requestedMs: number
  response: Promise<PreparedResponse>
  /** Ids of videos and organisations that changed since it started. */
  changedVideoIds: Set<string>
  changedOrganisationIds: Set<string>
}

/** Confirmations arrive every 250 ms. Together with the time of a read, staleness stays below one second. */
const MAX_UNCONFIRMED_MS = 700
/** Requests join a read that started at most this long ago. */
const MAX_LOAD_AGE_MS = 700
/** Limits the effect of a change that is not notified. */
const MAX_AGE_MS = 60_000
const MAX_BYTES = 64 * 1024 * 1024
/** Approximate size of an entry without its body. */
const ENTRY_BYTES = 1_000

export interface GuestResponsesOptions {
  metrics: Pick<Metrics, 'counter'>
  maxBytes?: number
  /** Monotonic clock in milliseconds. */
  now?: () => number
}

export function createGuestResponses({
  metrics,
  maxBytes = MAX_BYTES,
  now = () => performance.now(),
}: GuestResponsesOptions): GuestResponses {
  const sources = metrics.counter(
    'vitascope_gateway_guest_responses_total',
    'Responses to guests that can be shared, by source: cache, concurrent for those that were being created, or read',
    ['source'],
  )
  const urlsByVideo = new Map<string, Set<string>>()
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ url, response }) => ENTRY_BYTES + url.length + response.contentLength,
    dispose({ url, rule }) {
      const urls = urlsByVideo.get(rule.videoId)
      urls?.delete(url)
      if (urls?.size === 0) urlsByVideo.delete(rule.videoId)
    },
  })
  const loads = new Map<string, Load>()
  /** Smallest difference between this clock at the receipt of a message and the sender's clock in it. */
  let clockDifferenceMs = Number.POSITIVE_INFINITY
  /** Time on this clock until which all changes have been received. */
  let completeUntilMs = Number.NEGATIVE_INFINITY
  /** Local time of the last change by a key of an organisation, by organisation. */
  const changedMs = new Map<string, number>()
  /** Local time of the last change that may concern every organisation. */
  let allChangedMs = Number.NEGATIVE_INFINITY

  const isFollowed = () => completeUntilMs > Number.NEGATIVE_INFINITY

  const isUsable = ({ rule, requestedMs }: Entry): boolean => {
    const nowMs = now()
    const lastChangeMs = Math.max(allChangedMs, changedMs.get(rule.organisationId) ?? 0)
    const containsLastChange = requestedMs >= lastChangeMs || completeUntilMs >= lastChangeMs
    const isConfirmed = nowMs - completeUntilMs <= MAX_UNCONFIRMED_MS
    return containsLastChange && isConfirmed && nowMs - requestedMs < MAX_AGE_MS && !isExpired(rule)
  }

  const store = (entry: Entry) => {
    const { url, rule } = entry
    entries.set(url, entry)
    const urls = urlsByVideo.get(rule.videoId)
    if (urls) urls.add(url)
    else urlsByVideo.set(rule.videoId, new Set([url]))
  }

  const startLoad = (url: string, create: () => Promise<CreatedResponse>): Load => {
    const requestedMs = now()
    const load: Load = {
      requestedMs,
      response: create().then(
        ({ response, rule }) => {
          if (loads.get(url) !== load) return response
          loads.delete(url)
          const isChanged = rule && (load.changedVideoIds.has(rule.videoId) || load.changedOrganisationIds.has(rule.organisationId))
          if (rule && isFollowed() && !isChanged) store({ url, response, rule, requestedMs })
          return response
        },
        (error: unknown) => {
          if (loads.get(url) === load) loads.delete(url)
          throw error
        },
      ),
      changedVideoIds: new Set(),
      changedOrganisationIds: new Set(),
    }
    loads.set(url, load)
    return load
  }

  return {
    async get(url, create) {
      const entry = entries.get(url)
      if (entry && isUsable(entry)) {
        sources.inc({ source: 'cache' })
        return entry.response
      }
      const running = loads.get(url)
      // The data of a load that started earlier may be outdated, so it is not joined.
      const load = running && now() - running.requestedMs <= MAX_LOAD_AGE_MS ? running : undefined
      sources.inc({ source: load ? 'concurrent' : 'read' })
      return await (load ?? startLoad(url, create)).response
    },
    requireFresh(organisationId) {
      loads.clear()
      if (organisationId === undefined) allChangedMs = now()
      else changedMs.set(organisationId, now())
    },
    apply({ videoIds, organisationIds, completeUntilMs: senderMs }) {
      // The stream has no changes from before its first message. Loads that started earlier may lack
      // such a change, so they are not cached.
      if (!isFollowed()) loads.clear()
      for (const videoId of videoIds) for (const url of [...(urlsByVideo.get(videoId) ?? [])]) entries.delete(url)
      if (organisationIds.length > 0) {
        const changed = new Set(organisationIds)
        for (const [url, { rule }] of entries.entries()) if (changed.has(rule.organisationId)) entries.delete(url)
      }
      for (const load of loads.values()) {
        for (const videoId of videoIds) load.changedVideoIds.add(videoId)
        for (const organisationId of organisationIds) load.changedOrganisationIds.add(organisationId)
      }
      clockDifferenceMs = Math.min(clockDifferenceMs, now() - senderMs)
      completeUntilMs = senderMs + clockDifferenceMs
      for (const [organisationId, ms] of changedMs) if (ms <= completeUntilMs) changedMs.delete(organisationId)
    },
    clear() {
      loads.clear()
      entries.clear()
      changedMs.clear()
      clockDifferenceMs = Number.POSITIVE_INFINITY
      completeUntilMs = Number.NEGATIVE_INFINITY
    },
  }
}

const isExpired = ({ expireTime }: GuestCacheRule) => expireTime !== undefined && expireTime.getTime() <= Date.now()
