import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { foreignOrganisation, isSystem, requireAuthenticated } from '@vitascope/principal'

/** The organisation to which a caller is restricted; undefined means all organisations. */
export type OrganisationScope = string | undefined

/**
 * Returns the scope of a caller: all organisations for system users, their own for super users.
 * Throws for other callers.
 */
export function requireSuperUser(caller: Principal): OrganisationScope {
  requireAuthenticated(caller)
  if (isSystem(caller)) return undefined
  if (caller.kind === 'user' && caller.userType === 'standard') return caller.organisationId
  throw new DomainError('forbidden', 'SUPER_USER_ONLY', 'only super users and system users may do this')
}

/** Throws FOREIGN_ORGANISATION if the organisation is outside the scope, whether or not it exists. */
export function requireOwnOrganisation(scope: OrganisationScope, organisationId: string): void {
  if (scope !== undefined && organisationId !== scope) throw foreignOrganisation()
}
