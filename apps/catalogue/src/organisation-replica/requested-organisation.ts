import { invalid } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { organisationFor, type Scope } from '@vitascope/principal'
import type { Organisations } from './organisation.ts'

/**
 * Returns the organisation of a request after checking that it exists. The default of a user is its own
 * organisation. Returns null if a system user specifies no organisation.
 */
export async function findRequestedOrganisation(
  organisations: Organisations,
  principal: Principal,
  requestedId: string,
  signal: AbortSignal,
): Promise<Scope> {
  const organisationId = organisationFor(principal, requestedId)
  if (organisationId === undefined) return null
  await organisations.require(organisationId, signal)
  return organisationId
}

/** Like `findRequestedOrganisation`, but throws `invalid` if a system user specifies no organisation. */
export async function requireOrganisation(
  organisations: Organisations,
  principal: Principal,
  requestedId: string,
  signal: AbortSignal,
): Promise<string> {
  const organisationId = await findRequestedOrganisation(organisations, principal, requestedId, signal)
  if (organisationId === null) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  return organisationId
}
