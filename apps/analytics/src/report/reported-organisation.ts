import { invalid, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { organisationFor } from '@vitascope/principal'
import { isId } from '@vitascope/request'

/**
 * Returns the organisation that a report is about. For users, it is their own. For system users, it is
 * the requested one. Throws `invalid` if a system user requests none, `not_found` if the requested id is
 * malformed, and like `organisationFor` if the caller may not read the organisation.
 */
export function resolveReportedOrganisation(principal: Principal, requestedId: string): string {
  const organisationId = organisationFor(principal, requestedId)
  if (organisationId === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  if (!isId(organisationId)) throw notFound('organisation', organisationId)
  return organisationId
}
