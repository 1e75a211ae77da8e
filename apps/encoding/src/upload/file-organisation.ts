import { invalid } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { foreignOrganisation, keyRequired } from '@vitascope/principal'
import { isId } from '@vitascope/request'

/**
 * Returns the organisation in the query of a request with which the gateway stores a file for a
 * caller. Throws if the caller has no access to this organisation.
 */
export function requireFileOrganisation(principal: Principal, query: URLSearchParams): string {
  if (principal.kind !== 'user') throw keyRequired()
  const organisationId = query.get('organisation_id') ?? ''
  if (!isId(organisationId)) throw invalid([{ field: 'organisation_id', message: 'must be an id' }])
  if (principal.userType !== 'system' && principal.organisationId !== organisationId) throw foreignOrganisation()
  return organisationId
}
