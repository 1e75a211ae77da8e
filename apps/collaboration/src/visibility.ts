import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'

type UserPrincipal = Extract<Principal, { kind: 'user' }>

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
