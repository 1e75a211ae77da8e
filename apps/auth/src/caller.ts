import { DomainError } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'

/** The organisation that a caller is held to; undefined reaches all of them. */
export type Within = string | undefined

/** Services speak for the system: the gateway and the others are trusted inside. */
export function isSystem(caller: Principal): boolean {
  return caller.kind === 'service' || (caller.kind === 'user' && caller.userType === 'system')
}

export function onlyServices(caller: Principal): void {
  if (caller.kind !== 'service') throw new DomainError('forbidden', 'SERVICE_ONLY', 'only services of the platform may do this')
}

export function onlySystem(caller: Principal): void {
  noGuests(caller)
  if (!isSystem(caller)) throw systemOnly()
}

/** System callers reach every organisation, super users their own, others none. */
export function onlySuperUsers(caller: Principal): Within {
  noGuests(caller)
  if (isSystem(caller)) return undefined
  if (caller.kind === 'user' && caller.userType === 'standard') return caller.organisationId
  throw new DomainError('forbidden', 'SUPER_USER_ONLY', 'only super users and system users may do this')
}

/** Refuses a named organisation that the caller is not held to, whether or not it exists. */
export function onlyOwnOrganisation(within: Within, organisationId: string): void {
  if (within !== undefined && organisationId !== within) {
    throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'the organisation is not the one of your key')
  }
}

export function noGuests(caller: Principal): void {
  if (caller.kind === 'guest') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
}

export function systemOnly(): DomainError {
  return new DomainError('forbidden', 'SYSTEM_ONLY', 'only system users may do this')
}
