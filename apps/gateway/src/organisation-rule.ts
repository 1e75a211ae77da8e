import { DomainError, invalid } from '@vitascope/errors'
import type { Caller } from './caller.ts'

/** System keys reach every organisation; all other callers work in their own. */
export function isSystemCaller(caller: Caller): boolean {
  return caller.kind === 'user' && caller.userType === 'system'
}

/**
 * The organisation that a path or payload names: of a user its own, whether or not the named one exists; of the system any, and the
 * service knows whether there is one.
 */
export function namedOrganisation(caller: Caller, named: string): string {
  const own = ownOrganisation(caller)
  if (own === undefined || own === named) return named
  throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'this key works in its own organisation only')
}

/** The organisation that a query narrows to: of a user always its own, of the system the named one or undefined for all. */
export function queriedOrganisation(caller: Caller, named: string | undefined): string | undefined {
  if (named === undefined) return ownOrganisation(caller)
  const organisationId = namedOrganisation(caller, named)
  if (/^\d{1,19}$/.test(organisationId)) return organisationId
  throw invalid([{ field: 'organisation_id', message: 'must be an id: digits' }])
}

/** The same where one organisation is needed: the system must say which. */
export function requiredOrganisation(caller: Caller, named: string | undefined): string {
  const organisationId = queriedOrganisation(caller, named)
  if (organisationId !== undefined) return organisationId
  throw invalid([{ field: 'organisation_id', message: 'is required with a system key' }])
}

/** Undefined for those who have every organisation. */
function ownOrganisation(caller: Caller): string | undefined {
  if (caller.kind === 'guest') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
  return isSystemCaller(caller) ? undefined : caller.organisationId
}
