import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'

export type UserPrincipal = Extract<Principal, { kind: 'user' }>

/** The organisation whose records a caller may access; null means all organisations. Stores restrict their queries to it. */
export type Scope = string | null

/** Throws KEY_REQUIRED for guests. */
export function requireAuthenticated(principal: Principal): void {
  if (principal.kind === 'guest') throw keyRequired()
}

/** Returns the user. Throws KEY_REQUIRED for guests and USERS_ONLY for services. */
export function requireUser(principal: Principal): UserPrincipal {
  if (principal.kind === 'user') return principal
  if (principal.kind === 'guest') throw keyRequired()
  throw new DomainError('forbidden', 'USERS_ONLY', 'services must not call this method')
}

/** Throws SERVICE_ONLY for users and guests. */
export function requireService(principal: Principal): void {
  if (principal.kind !== 'service') throw new DomainError('forbidden', 'SERVICE_ONLY', 'only services of the platform may do this')
}

/** Returns whether a caller has system rights. Services of the platform have them. */
export function isSystem(principal: Principal): boolean {
  return principal.kind === 'service' || (principal.kind === 'user' && principal.userType === 'system')
}

/** Throws KEY_REQUIRED for guests and SYSTEM_ONLY for users without system rights. Services are accepted. */
export function requireSystem(principal: Principal): void {
  requireAuthenticated(principal)
  if (!isSystem(principal)) throw systemOnly()
}

/** Throws like `requireUser`, and SYSTEM_ONLY for users without system rights. */
export function requireSystemUser(principal: Principal): void {
  if (requireUser(principal).userType !== 'system') throw systemOnly()
}

/**
 * Returns the scope of a caller: its own organisation for users, all for system users. Throws for
 * guests and services.
 */
export function getScope(principal: Principal): Scope {
  const user = requireUser(principal)
  return user.userType === 'system' ? null : user.organisationId
}

/** Returns the scope of a caller as `getScope` does. Services may access all records. */
export function getScopeOrAll(principal: Principal): Scope {
  return principal.kind === 'service' ? null : getScope(principal)
}

/**
 * Returns the organisation to act for: the requested one, or the caller's own if the requested
 * id is empty. Returns undefined if a system user requests none. Throws FOREIGN_ORGANISATION if a
 * user requests another organisation.
 */
export function organisationFor(principal: Principal, requestedId: string): string | undefined {
  const user = requireUser(principal)
  if (user.userType === 'system') return requestedId === '' ? undefined : requestedId
  if (requestedId !== '' && requestedId !== user.organisationId) throw foreignOrganisation()
  return user.organisationId
}

/** Returns whether a caller may see the records of an organisation. Services may see all records. */
export function canSee(principal: Principal, organisationId: string): boolean {
  return isSystem(principal) || (principal.kind === 'user' && principal.organisationId === organisationId)
}

export function keyRequired(): DomainError {
  return new DomainError('unauthenticated', 'KEY_REQUIRED', 'an API key is required')
}

/** Returns the error for another organisation. It is the same whether or not that organisation exists. */
export function foreignOrganisation(): DomainError {
  return new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'the organisation is not the one of your key')
}

/** Returns the error for an operation that only system users may call. */
export function systemOnly(): DomainError {
  return new DomainError('forbidden', 'SYSTEM_ONLY', 'only system users may do this')
}
