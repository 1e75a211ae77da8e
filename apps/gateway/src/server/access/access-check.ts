import type { IncomingMessage } from 'node:http'
import { isDomainError } from '@vitascope/errors'
import type { Principal, UserKind } from '@vitascope/grpc'
import { domainError } from '../http/problem.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Caller } from '../route/caller.ts'
import type { Access, Route } from '../route/route.ts'
import { isMalformedKey, type RequestKey, readKey } from './credentials.ts'
import type { ApiKeyCache, KeyHolder } from './key-cache.ts'
import { findRequestingPage } from './requesting-page.ts'

/**
 * Identifies the caller and checks that it may call the route. Throws 401 for a missing or invalid
 * key and 403 for a key that is not sufficient.
 */
export async function admitCaller(
  route: Route,
  request: IncomingMessage,
  queriedKey: string | undefined,
  context: RequestContext,
  { keys, limiter, publicUrl }: { keys: ApiKeyCache; limiter: Limiter; publicUrl: () => string },
): Promise<{ caller: Caller; holder: KeyHolder | undefined }> {
  const page = findRequestingPage(request, publicUrl())
  if (route.ownPagesOnly && page === 'foreign') throw foreignPage()
  const holder = await identify()
  if (holder) context.keyId = holder.keyId
  if (route.access === 'public') return { caller: holder?.resources.has(route.resource) ? holder : { kind: 'guest' }, holder }
  if (!holder) throw domainError('unauthenticated', 'KEY_REQUIRED', 'an API key is required; send it as Basic KEY:x or as Bearer KEY')
  if (!MAY_CALL[route.access].has(holder.userType)) throw NOT_ALLOWED[route.access](route.alternative)
  if (!holder.resources.has(route.resource)) {
    throw domainError('forbidden', 'MISSING_RESOURCE', `the key lacks the resource ${route.resource}`)
  }
  return { caller: holder, holder }

  async function identify(): Promise<KeyHolder | undefined> {
    const found = await readRequestKey()
    if (found === undefined) return undefined
    const { key, isSession } = found
    context.secrets.push(key)
    // Browsers add the cookie to requests of other sites, too.
    if (isSession && page !== 'own' && !isSafe(request, route)) {
      if (route.access === 'public') return undefined
      throw foreignPage()
    }
    try {
      return await keys.check(key, context.requestId, () => limiter.countKeyLookup(context.address))
    } catch (error) {
      if (!isDomainError(error)) throw error
      // The organisation is inactive. Scripts cannot delete the cookie, and it must not prevent another sign-in.
      if (isSession && route.access === 'public' && error.kind === 'forbidden') return undefined
      if (error.kind !== 'unauthenticated') throw error
      await limiter.countInvalidKey(context.address)
      if (!isSession) throw error
      if (route.access === 'public') return undefined
      throw domainError('unauthenticated', 'SIGN_IN_EXPIRED', 'the session has ended: sign in again')
    }
  }

  async function readRequestKey(): Promise<RequestKey | undefined> {
    try {
      return readKey(request, queriedKey)
    } catch (error) {
      // A malformed key needs no lookup, so it costs the same as a guest's request.
      if (isMalformedKey(error)) await limiter.consume({ policy: 'address', address: context.address }, route.cost)
      throw error
    }
  }
}

/** Returns whether a request changes nothing. */
function isSafe({ method }: IncomingMessage, { readOnly }: Route): boolean {
  return method === 'GET' || method === 'HEAD' ? readOnly : false
}

function foreignPage(): Error {
  return domainError(
    'forbidden',
    'FOREIGN_PAGE',
    'with a session, only pages of this platform may send this request; programs use an API key',
  )
}

type RestrictedAccess = Exclude<Access, 'public'>

const MAY_CALL: Record<RestrictedAccess, ReadonlySet<UserKind>> = {
  user: new Set(['uploader', 'standard', 'system']),
  super: new Set(['standard', 'system']),
  system: new Set(['system']),
}

const NOT_ALLOWED: Record<RestrictedAccess, (alternative: string | undefined) => Error> = {
  user: () => domainError('forbidden', 'KEY_NOT_ALLOWED', 'this key must not call this endpoint'),
  super: (alternative) =>
    domainError(
      'forbidden',
      'SUPER_USER_ONLY',
      withAlternative('only super users of the organisation and system users may do this', alternative),
    ),
  system: (alternative) => domainError('forbidden', 'SYSTEM_ONLY', withAlternative('only system users may do this', alternative)),
}

function withAlternative(sentence: string, alternative: string | undefined): string {
  return alternative === undefined ? sentence : `${sentence}; ${alternative}`
}

/** Returns the principal that services receive for the caller. */
export function toPrincipal(caller: Caller): Principal {
  if (caller.kind === 'guest') return { kind: 'guest' }
  const { keyId, userId, organisationId, userType } = caller
  return { kind: 'user', keyId, userId, organisationId, userType }
}
