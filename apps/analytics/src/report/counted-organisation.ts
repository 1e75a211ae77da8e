import { invalid, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { organisationFor } from '@vitascope/principal'
import { isId } from '@vitascope/request'

/**
 * Returns the organisation of a report: the user's own, or the requested one of a system user. Throws
 * if the caller may not read it, or if a system user requests none.
 */
export function resolveReportedOrganisation(principal: Principal, requestedId: string): string {
  const organisationId = organisationFor(principal, requestedId)
  if (organisationId === undefined) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  if (!isId(organisationId)) throw notFound('organisation', organisationId)
  return organisationId
}
