import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'

export type UserPrincipal = Extract<Principal, { kind: 'user' }>

/** Whose records a caller may see: one organisation's, or, as null, everybody's. Every store call takes it. */
export type Scope = string | null

/** The one decision about who sees what: users their own organisation, system users all, anybody else nothing. */
export function scopeOf(principal: Principal): Scope {
  const user = requireUser(principal)
  return user.userType === 'system' ? null : user.organisationId
}

export function requireUser(principal: Principal): UserPrincipal {
  if (principal.kind === 'user') return principal
  if (principal.kind === 'guest') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
  throw new DomainError('forbidden', 'USERS_ONLY', 'services do not call this')
}

export function requireService(principal: Principal): void {
  if (principal.kind !== 'service') throw new DomainError('forbidden', 'SERVICES_ONLY', 'only services call this')
}

export function requireSystem(principal: Principal): void {
  if (requireUser(principal).userType !== 'system') throw new DomainError('forbidden', 'SYSTEM_ONLY', 'this is for system keys')
}

/** The organisation that a request names, when the caller may act for it; his own when it names none; undefined for a system caller's none. */
export function organisationFor(principal: Principal, named: string): string | undefined {
  const user = requireUser(principal)
  if (user.userType === 'system') return named === '' ? undefined : named
  if (named !== '' && named !== user.organisationId) {
    throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'the organisation is not that of the key')
  }
  return user.organisationId
}
