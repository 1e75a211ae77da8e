import { invalid } from '@vitascope/errors'
import { foreignOrganisation, keyRequired } from '@vitascope/principal'
import type { Caller } from '../../server/route/caller.ts'

/**
 * Returns true for a system key, which has access to every organisation. All other callers have
 * access only to their own.
 */
export function isSystemCaller(caller: Caller): boolean {
  return caller.kind === 'user' && caller.userType === 'system'
}

/**
 * Returns the organisation named in a path or payload. Throws if a user names another organisation
 * than its own, whether or not it exists. A system key may name any, and the service checks that it
 * exists.
 */
export function requestedOrganisation(caller: Caller, requestedId: string): string {
  const ownId = ownOrganisation(caller)
  if (ownId === undefined || ownId === requestedId) return requestedId
  throw foreignOrganisation()
}

/**
 * Returns the organisation that a query is restricted to. For a user it is always its own. For a
 * system key it is the named one, or undefined for all.
 */
export function queriedOrganisation(caller: Caller, requestedId: string | undefined): string | undefined {
  if (requestedId === undefined) return ownOrganisation(caller)
  const organisationId = requestedOrganisation(caller, requestedId)
  if (/^\d{1,19}$/.test(organisationId)) return organisationId
  throw invalid([{ field: 'organisation_id', message: 'must be an id: digits' }])
}

/** Like `queriedOrganisation`, but throws if a system key names no organisation. */
export function requiredOrganisation(caller: Caller, requestedId: string | undefined): string {
  const organisationId = queriedOrganisation(caller, requestedId)
  if (organisationId !== undefined) return organisationId
  throw invalid([{ field: 'organisation_id', message: 'is required with a system key' }])
}

/** Returns undefined for callers with access to every organisation. */
function ownOrganisation(caller: Caller): string | undefined {
  if (caller.kind === 'guest') throw keyRequired()
  return isSystemCaller(caller) ? undefined : caller.organisationId
}
