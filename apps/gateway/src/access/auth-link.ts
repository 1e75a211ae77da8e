import { setTimeout as delay } from 'node:timers/promises'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AccessListServiceService, Resource } from '@vitascope/proto/auth/v1/access_list'
import type { ApiKeyServiceService } from '@vitascope/proto/auth/v1/api_key'
import type { Logger } from '@vitascope/telemetry'
import type { SharedRedis } from '../redis/redis.ts'
import type { Access, Route } from '../route.ts'
import type { KeyChecks } from './key-checks.ts'

export interface AuthLink {
  /** True once auth knows every resource of the table. */
  registered(): boolean
  stop(): Promise<void>
}

interface Parts {
  accessList: Pick<Client<typeof AccessListServiceService>, 'registerResources'>
  apiKeys: Pick<Client<typeof ApiKeyServiceService>, 'watchRevocations'>
  keys: KeyChecks
  routes: readonly Route[]
  log: Logger
  /** Tells other gateways, whose own link may be broken just then, and hears of them. */
  redis: SharedRedis | undefined
}

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 2_000
/** The channel on which gateways tell each other the ids of keys to forget: a JSON list. */
const REVOKED = 'vitascope:revoked'

/** Tells auth the table's resources, then listens to what it revokes; when the stream ends, forgets every key and begins again. */
export function linkAuth({ accessList, apiKeys, keys, routes, log, redis }: Parts): AuthLink {
  const end = new AbortController()
  const resources = resourcesOf(routes)
  let registered = false
  let wait = FIRST_WAIT_MS

  async function once(): Promise<void> {
    const call = serviceCall('gateway', '', end.signal)
    await accessList.registerResources({ resources }, call)
    registered = true
    for await (const { apiKeyIds } of apiKeys.watchRevocations({}, call)) {
      wait = FIRST_WAIT_MS
      // The first message says that the stream stands: what came before it is unknown.
      if (apiKeyIds.length === 0) keys.forgetAll()
      else {
        keys.forget(apiKeyIds)
        redis?.say(REVOKED, JSON.stringify(apiKeyIds))
      }
    }
  }

  async function forever(): Promise<void> {
    while (!end.signal.aborted) {
      try {
        await once()
      } catch (error) {
        if (!end.signal.aborted) log.warn({ why: error instanceof Error ? error.message : String(error) }, 'the link to auth is broken')
      }
      keys.forgetAll()
      // Many gateways lose one auth at the same moment; they come back one by one.
      await delay(wait * (0.5 + Math.random()), undefined, { signal: end.signal }).catch(() => {})
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    }
  }

  redis?.listen(
    REVOKED,
    (message) => keys.forget(idsOf(message)),
    () => keys.forgetAll(),
  )
  const running = forever()
  return {
    registered: () => registered,
    async stop() {
      end.abort()
      await running
    },
  }
}

const OPEN_TO_USERS: Record<Access, boolean> = { public: true, user: true, super: false, system: false }

/** Each resource once; users may hold it when any of its routes is open to them. */
export function resourcesOf(routes: readonly Route[]): Resource[] {
  const open = new Map<string, boolean>()
  for (const { resource, access } of routes) open.set(resource, open.get(resource) === true || OPEN_TO_USERS[access])
  return [...open].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, openToUsers]) => ({ aclId: 0, name, openToUsers }))
}

/** What is no list of ids names no keys: whoever writes to Redis can make a gateway forget, and nothing else. */
function idsOf(message: string): string[] {
  try {
    const ids: unknown = JSON.parse(message)
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
