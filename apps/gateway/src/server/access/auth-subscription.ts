import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AccessListServiceService, Resource } from '@vitascope/proto/auth/v1/access_list'
import type { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import type { Logger } from '@vitascope/telemetry'
import type { SharedRedis } from '../redis/redis.ts'
import type { Access, Route } from '../route/route.ts'
import type { ApiKeyCache } from './key-cache.ts'

export interface RevocationSubscription {
  /** True once auth has registered every resource of the route table. */
  isRegistered(): boolean
  stop(): Promise<void>
}

interface Parts {
  accessList: Pick<Client<typeof AccessListServiceService>, 'registerResources'>
  apiKeys: Pick<Client<typeof ApiKeyServiceService>, 'watchRevocations'>
  keys: ApiKeyCache
  routes: readonly Route[]
  log: Logger
  /**
   * Publishes revocations to other gateways, whose own stream may be interrupted, and receives
   * theirs.
   */
  redis: SharedRedis | undefined
  /** How long the stream may be interrupted before a warning is logged, in milliseconds. */
  warnAfterMs?: number
}

const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 2_000
/**
 * Auth closes each connection after two minutes, and a rolling update takes seconds. Shorter
 * interruptions are normal.
 */
const WARN_AFTER_MS = 15_000
/** Redis channel for revoked key ids between gateways. A message is a JSON list of ids. */
const REVOKED_CHANNEL = 'vitascope:revoked'

/**
 * Registers the resources of the route table with auth, then subscribes to revocations. When the
 * stream ends, it clears the key cache and reconnects.
 */
export function subscribeToRevocations({
  accessList,
  apiKeys,
  keys,
  routes,
  log,
  redis,
  warnAfterMs = WARN_AFTER_MS,
}: Parts): RevocationSubscription {
  const end = new AbortController()
  const outage = outageLog(log, warnAfterMs)
  const resources = resourcesOf(routes)
  let registered = false
  let failures = 0

  async function subscribeOnce(): Promise<void> {
    const call = serviceCall('gateway', '', end.signal)
    await accessList.registerResources({ resources }, call)
    registered = true
    for await (const { apiKeyIds } of apiKeys.watchRevocations({}, call)) {
      failures = 0
      outage.end()
      // The first message is empty and confirms the subscription. Earlier revocations are unknown,
      // so the cache is cleared.
      if (apiKeyIds.length === 0) keys.clear()
      else {
        keys.forget(apiKeyIds)
        redis?.publish(REVOKED_CHANNEL, JSON.stringify(apiKeyIds))
      }
    }
  }

  async function subscribeForever(): Promise<void> {
    while (!end.signal.aborted) {
      try {
        await subscribeOnce()
        outage.begin(undefined)
      } catch (error) {
        outage.begin(error)
      }
      keys.clear()
      await delay(backoffMs(++failures, { minMs: MIN_BACKOFF_MS, maxMs: MAX_BACKOFF_MS }), undefined, { signal: end.signal }).catch(
        () => {},
      )
    }
  }

  redis?.listen(
    REVOKED_CHANNEL,
    (message) => keys.forget(idsOf(message)),
    () => keys.clear(),
  )
  outage.begin(undefined)
  const running = subscribeForever().finally(() => outage.stop())
  return {
    isRegistered: () => registered,
    async stop() {
      end.abort()
      await running
    },
  }
}

/**
 * Logs an outage once it has lasted for `warnAfterMs`, with its latest error, and its end if the outage
 * was logged.
 */
function outageLog(log: Logger, warnAfterMs: number) {
  let timer: NodeJS.Timeout | undefined
  let logged = false
  let latest: unknown
  const warn = () => {
    logged = true
    log.warn({ err: latest }, 'subscription to revoked API keys failed; retrying')
  }
  const clear = () => {
    clearTimeout(timer)
    timer = undefined
  }
  return {
    begin(error: unknown) {
      latest = error ?? latest
      if (!logged) timer ??= setTimeout(warn, warnAfterMs).unref()
    },
    end() {
      clear()
      if (logged) log.info('subscription to revoked API keys restored')
      logged = false
      latest = undefined
    },
    stop: clear,
  }
}

const OPEN_TO_USERS: Record<Access, boolean> = { public: true, user: true, super: false, system: false }

/** Returns each resource once. Users may hold a resource if any of its routes is open to them. */
export function resourcesOf(routes: readonly Route[]): Resource[] {
  const open = new Map<string, boolean>()
  for (const { resource, access } of routes) open.set(resource, open.get(resource) === true || OPEN_TO_USERS[access])
  return [...open].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, openToUsers]) => ({ aclId: 0, name, openToUsers }))
}

/**
 * Returns the ids of a message, or none if it is malformed. So a writer with access to Redis can
 * only clear cached keys.
 */
function idsOf(message: string): string[] {
  try {
    const ids: unknown = JSON.parse(message)
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
