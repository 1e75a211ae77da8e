import type { Client } from '@vitascope/grpc'
import type { AccessListServiceService, Resource } from '@vitascope/proto/auth/v1/access_list'
import type { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import type { Logger } from '@vitascope/telemetry'
import type { SharedRedis } from '../redis/redis.ts'
import type { Access, Route } from '../route/route.ts'
import { type Subscription, subscribe } from '../subscription/subscription.ts'
import type { ApiKeyCache } from './key-cache.ts'

export interface RevocationSubscription extends Subscription {
  /** True once auth has registered every resource of the route table. */
  isRegistered(): boolean
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

/** Redis channel for revoked key ids between gateways. A message is a JSON list of ids. */
const REVOKED_CHANNEL = 'vitascope:revoked'

/**
 * Registers the resources of the route table with auth, then subscribes to revocations. When the
 * stream ends, it clears the key cache and reconnects.
 */
export function subscribeToRevocations({ accessList, apiKeys, keys, routes, redis, ...options }: Parts): RevocationSubscription {
  const resources = listResources(routes)
  let registered = false
  redis?.listen(
    REVOKED_CHANNEL,
    (message) => keys.forget(parseIds(message)),
    () => keys.clear(),
  )
  const subscription = subscribe({
    ...options,
    topic: 'revoked API keys',
    async read(call, onMessage) {
      await accessList.registerResources({ resources }, call)
      registered = true
      for await (const { apiKeyIds } of apiKeys.watchRevocations({}, call)) {
        onMessage()
        // The first message is empty and confirms the subscription. Earlier revocations are unknown,
        // so the cache is cleared.
        if (apiKeyIds.length === 0) keys.clear()
        else {
          keys.forget(apiKeyIds)
          redis?.publish(REVOKED_CHANNEL, JSON.stringify(apiKeyIds))
        }
      }
    },
    onEnd: () => keys.clear(),
  })
  return { isRegistered: () => registered, stop: subscription.stop }
}

const OPEN_TO_USERS: Record<Access, boolean> = { public: true, user: true, super: false, system: false }

/** Returns each resource once. Users may hold a resource if any of its routes is open to them. */
export function listResources(routes: readonly Route[]): Resource[] {
  const open = new Map<string, boolean>()
  for (const { resource, access } of routes) open.set(resource, open.get(resource) === true || OPEN_TO_USERS[access])
  return [...open].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, openToUsers]) => ({ aclId: 0, name, openToUsers }))
}

/**
 * Returns the ids of a message, or none if it is malformed. So a writer with access to Redis can
 * only clear cached keys.
 */
function parseIds(message: string): string[] {
  try {
    const ids: unknown = JSON.parse(message)
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
