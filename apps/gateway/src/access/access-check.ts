import type { IncomingMessage } from 'node:http'
import { isDomainError } from '@vitascope/errors'
import type { Principal, UserKind } from '@vitascope/grpc'
import type { Caller } from '../caller.ts'
import type { Exchange } from '../http/exchange.ts'
import { refusal } from '../http/problem.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Access, Route } from '../route.ts'
import { isMalformedKey, readKey } from './credentials.ts'
import type { KeyChecks, KeyHolder } from './key-checks.ts'

/** Who calls, and whether the route lets them: 401 for a bad key or none where one is needed, 403 where it does not suffice. */
export async function admitCaller(
  route: Route,
  request: IncomingMessage,
  queriedKey: string | undefined,
  exchange: Exchange,
  { keys, limiter }: { keys: KeyChecks; limiter: Limiter },
): Promise<{ caller: Caller; holder: KeyHolder | undefined }> {
  const holder = await identify()
  if (holder) exchange.keyId = holder.keyId
  if (route.access === 'public') return { caller: holder?.resources.has(route.resource) ? holder : { kind: 'guest' }, holder }
  if (!holder) throw refusal('unauthenticated', 'KEY_REQUIRED', 'this needs a key: send it as Basic KEY:x or as Bearer KEY')
  if (!MAY_CALL[route.access].has(holder.userType)) throw NOT_ALLOWED[route.access]()
  if (!holder.resources.has(route.resource)) {
    throw refusal('forbidden', 'MISSING_RESOURCE', `the key lacks the resource ${route.resource}`)
  }
  return { caller: holder, holder }

  async function identify(): Promise<KeyHolder | undefined> {
    const key = await sentKey()
    if (key === undefined) return undefined
    exchange.secrets.push(key)
    try {
      return await keys.check(key, exchange.requestId, () => limiter.checkFailedKeys(exchange.address))
    } catch (error) {
      if (isDomainError(error) && error.kind === 'unauthenticated') await limiter.takeFailedKey(exchange.address)
      throw error
    }
  }

  async function sentKey(): Promise<string | undefined> {
    try {
      return readKey(request, queriedKey)
    } catch (error) {
      // Junk costs no look-up, so it counts as any request of a guest would.
      if (isMalformedKey(error)) await limiter.take({ policy: 'address', address: exchange.address }, route.cost)
      throw error
    }
  }
}

type Guarded = Exclude<Access, 'public'>

const MAY_CALL: Record<Guarded, ReadonlySet<UserKind>> = {
  user: new Set(['uploader', 'standard', 'system']),
  super: new Set(['standard', 'system']),
  system: new Set(['system']),
}

const NOT_ALLOWED: Record<Guarded, () => Error> = {
  user: () => refusal('forbidden', 'KEY_NOT_ALLOWED', 'this key may not call it'),
  super: () => refusal('forbidden', 'SUPER_USER_ONLY', 'only super users of the organisation and system users may do this'),
  system: () => refusal('forbidden', 'SYSTEM_ONLY', 'only system users may do this'),
}

/** How services see the caller. */
export function principalOf(caller: Caller): Principal {
  if (caller.kind === 'guest') return { kind: 'guest' }
  const { keyId, userId, organisationId, userType } = caller
  return { kind: 'user', keyId, userId, organisationId, userType }
}
