import { DomainError, invalid, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { isId } from '@vitascope/postgres'

/** Whose counts are asked for: users have their own organisation's, system users name one. */
export function organisationFor(principal: Principal, named: string): string {
  if (principal.kind === 'guest') throw new DomainError('unauthenticated', 'KEY_REQUIRED', 'this needs an API key')
  if (principal.kind === 'service') throw new DomainError('forbidden', 'USERS_ONLY', 'services do not call this')
  if (principal.userType !== 'system') {
    if (named !== '' && named !== principal.organisationId) {
      throw new DomainError('forbidden', 'FOREIGN_ORGANISATION', 'the organisation is not that of the key')
    }
    return principal.organisationId
  }
  if (named === '') throw invalid([{ field: 'organisation_id', message: 'is required' }])
  if (!isId(named)) throw notFound('organisation', named.slice(0, 100))
  return named
}
