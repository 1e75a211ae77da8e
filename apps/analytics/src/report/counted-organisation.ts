import { invalid, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { organisationFor } from '@vitascope/principal'
import { isId } from '@vitascope/request'

/**
 * Returns the organisation whose counts are requested: the user's own, or the one that a system
 * user names. Throws if the caller may not read it, or if a system user names none.
 */
export function resolveReportedOrganisation(principal: Principal, named: string): string {
  const organisationId = organisationFor(principal, named)
  if (organisationId === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  if (!isId(organisationId)) throw notFound('organisation', organisationId)
  return organisationId
}
