import type { Context } from '../../server/route/route.ts'
import { isSystemCaller, requestedOrganisation } from '../shared/resolve-organisation.ts'

/**
 * Returns the organisation of a report. Analytics does not know which organisations exist, so an
 * organisation named by a system key is looked up first. An unknown one is 404 instead of a report
 * of zeros.
 */
export async function reportedOrganisation(
  requestedId: string,
  { caller, services, call }: Pick<Context, 'caller' | 'services' | 'call'>,
): Promise<string> {
  const organisationId = requestedOrganisation(caller, requestedId)
  if (isSystemCaller(caller)) await services.organisations.getOrganisation({ organisationId }, call)
  return organisationId
}
