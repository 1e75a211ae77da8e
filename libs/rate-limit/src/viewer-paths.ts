import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

import { type AddressRules, addressGroups, clientAddress } from '@vitascope/security'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'
import { type AddressBudget, addressBudget, NETWORK_FACTOR } from './address-budget.ts'
import { localBudgets } from './budget.ts'
import type { Limits } from './limits.ts'
import { RateLimited } from './rate-limited.ts'

/**
 * Requests for `/player`, `/o`, `/oembed` and `/delivery` that wait for the first byte of their response,
 * per process.
 */
const MAX_WAITING = 4_096
/**
 * Requests for `/player`, `/o`, `/oembed` and `/delivery` in progress, per process. At the gateway, each
 * uses one client socket and one socket to delivery.
 */
const MAX_ACTIVE = 10_000
/** Ids found within this time are served regardless of the unknown-id budget of the address. */
const KNOWN_TTL_MS = 600_000
const MAX_KNOWN = 50_000
const LOG_INTERVAL_MS = 1_000

const VIEWER_PATH = /^(\/player|\/o|\/oembed|\/delivery)(?:[/?]|$)/
const DELIVERY_ID = /^\/delivery\/(?:presentation\/)?\d{1,19}\//
const EXPOSED_HEADERS = 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

/** A rejection before any other processing of a request. */
export interface ViewerRejection {
  status: 429 | 503
  code: string
  detail: string
  /** `/player`, `/o`, `/oembed` or `/delivery`. */
  instance: string
  /** Seconds. */
  retryAfter: number
  headers?: Readonly<Record<string, string>>
}

/** Callbacks to run at the first byte of a response. */
const firstBytes = new WeakMap<ServerResponse, () => void>()

/** Marks a request as no longer waiting, because its response begins. */
export function markResponseStarted(response: ServerResponse): void {
  firstBytes.get(response)?.()
}

/** Budget for requests of unknown ids, per address. */
export interface UnknownIds {
  /** Returns the rejection for an address that exceeded its budget. */
  rejection(address: string): Promise<RateLimited | undefined>
  count(address: string): Promise<void>
}

/**
 * Limits how often one address makes the process look up ids that do not exist. Each process counts
 * for itself.
 */
export function createUnknownIds(limits: Limits | 'off'): UnknownIds {
  if (limits === 'off') return { rejection: async () => undefined, count: async () => {} }
  const budget = addressBudget(localBudgets, 'unknown', { points: limits.unknown * limits.burst, duration: limits.burst })
  return {
    rejection: (address) => budget.rejection(address),
    async count(address) {
      try {
        await budget.consume(address, 1)
      } catch (error) {
        // A request that was already in progress when the budget became empty.
        if (!(error instanceof RateLimited)) throw error
      }
    },
  }
}

/**
 * Limits concurrent requests to `/player`, `/o`, `/oembed` and `/delivery`, in total (503) and per address
 * (429), before any other processing. The limits per address lie above the load of 500 viewers
 * behind one address, so that only attackers reach them. Each process counts for itself, because a
 * segment must not cost a Redis round trip.
 */
export function limitViewerPaths(
  listener: RequestListener,
  dependencies: {
    limits: Limits | 'off'
    unknownIds: UnknownIds
    trustedProxies: AddressRules
    /** Sends the response to a rejected request. */
    reject: (request: IncomingMessage, response: ServerResponse, rejection: ViewerRejection) => void
    log: Logger
    metrics: Metrics
    /** For tests. */
    bounds?: { waiting: number; active: number }
  },
): RequestListener {
  const { limits, unknownIds, trustedProxies, log, metrics } = dependencies
  const bounds = dependencies.bounds ?? { waiting: MAX_WAITING, active: MAX_ACTIVE }
  const requests =
    limits === 'off' ? undefined : addressBudget(localBudgets, 'media', { points: limits.media * limits.burst, duration: limits.burst })
  const maxActive = limits === 'off' ? Number.POSITIVE_INFINITY : limits.media_at_once
  const knownIds = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: KNOWN_TTL_MS })
  const activeByAddress = new Map<string, number>()
  let waiting = 0
  let active = 0
  let rejected = 0
  const counter = metrics.counter(
    'vitascope_http_viewer_requests_rejected_total',
    'Requests for /player, /o, /oembed and /delivery that a limit rejected, by error code',
    ['code'],
  )
  metrics.gauge('vitascope_http_viewer_requests', 'Active requests for /player, /o, /oembed and /delivery', [], (gauge) =>
    gauge.set(active),
  )
  const logSoon = () =>
    setTimeout(() => {
      log.warn({ rejected }, 'requests for /player, /o, /oembed and /delivery rejected')
      rejected = 0
    }, LOG_INTERVAL_MS).unref()

  const reject = (request: IncomingMessage, response: ServerResponse, instance: string, rejection: Omit<ViewerRejection, 'instance'>) => {
    counter.inc({ code: rejection.code })
    if (rejected++ === 0) logSoon()
    // Players on other origins read the response by script.
    const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS, ...rejection.headers }
    dependencies.reject(request, response, { ...rejection, instance, headers })
  }
  const countActive = (response: ServerResponse, address: string) => {
    const groups = addressGroups(address)
    for (const group of groups) if (group !== undefined) activeByAddress.set(group, (activeByAddress.get(group) ?? 0) + 1)
    active++
    waiting++
    let isWaiting = true
    const stopWaiting = () => {
      if (isWaiting) waiting--
      isWaiting = false
    }
    firstBytes.set(response, stopWaiting)
    response.once('close', () => {
      stopWaiting()
      active--
      for (const group of groups) {
        if (group === undefined) continue
        const remaining = (activeByAddress.get(group) ?? 1) - 1
        if (remaining === 0) activeByAddress.delete(group)
        else activeByAddress.set(group, remaining)
      }
    })
  }
  const exceedsShare = (address: string) => {
    const [group, network] = addressGroups(address)
    if ((activeByAddress.get(group) ?? 0) >= maxActive) return true
    return network !== undefined && (activeByAddress.get(network) ?? 0) >= maxActive * NETWORK_FACTOR
  }

  const admit = async (request: IncomingMessage, response: ServerResponse, path: string, requested: AddressBudget) => {
    const address = clientAddress(request, trustedProxies)
    const id = DELIVERY_ID.exec(request.url ?? '')?.[0]
    try {
      await requested.consume(address, 1)
      const error = id === undefined || knownIds.has(id) ? undefined : await unknownIds.rejection(address)
      if (error) throw error
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error
      const { message, retryAfter = 1, headers } = error
      return reject(request, response, path, { status: 429, code: 'rate_limited', detail: message, retryAfter, headers })
    }
    if (response.destroyed) return
    countActive(response, address)
    if (id !== undefined) response.once('close', () => recordLookup(id, response, address))
    listener(request, response)
  }
  /** An existing id may lack a file, so an id counts as unknown only if none of its files was found within `KNOWN_TTL_MS`. */
  const recordLookup = (id: string, response: ServerResponse, address: string) => {
    if (isFound(response)) knownIds.set(id, true)
    // A client that disconnects before the response has caused a lookup, too.
    const isUnknown = response.statusCode === 404 || !response.headersSent
    if (!isUnknown || knownIds.has(id)) return
    unknownIds.count(address).catch((err: unknown) => log.error({ err }, 'counting an unknown id failed'))
  }

  return (request, response) => {
    const path = VIEWER_PATH.exec(request.url ?? '')?.[1]
    if (path === undefined || request.method === 'OPTIONS') return listener(request, response)
    if (waiting >= bounds.waiting || active >= bounds.active) {
      return reject(request, response, path, {
        status: 503,
        code: 'overloaded',
        detail: 'too many requests are active; try again',
        retryAfter: 1,
      })
    }
    const address = clientAddress(request, trustedProxies)
    if (exceedsShare(address)) {
      const detail = `this address has ${maxActive} active requests for files and pages, which is the maximum; wait for responses`
      const headers = {
        'RateLimit-Policy': `"media_at_once";q=${maxActive};qu="concurrent-requests"`,
        RateLimit: '"media_at_once";r=0',
      }
      return reject(request, response, path, { status: 429, code: 'too_many_at_once', detail, retryAfter: 1, headers })
    }
    if (!requests) {
      countActive(response, address)
      return listener(request, response)
    }
    admit(request, response, path, requests).catch((error: unknown) => {
      log.error({ err: error }, 'rate limiting a request failed')
      response.destroy()
    })
  }
}

/**
 * Returns whether a response shows that the id of a file exists. Rejections and the redirection of a token into the path do
 * not: some of them precede the lookup of the id. The addresses of a bucket are absolute.
 */
function isFound(response: ServerResponse): boolean {
  const { headersSent, statusCode } = response
  if (statusCode === 302) return !String(response.getHeader('Location')).startsWith('/')
  return headersSent && (statusCode < 300 || statusCode === 304)
}
