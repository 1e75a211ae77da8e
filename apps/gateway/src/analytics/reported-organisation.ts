import { isSystemCaller, namedOrganisation } from '../organisation-rule.ts'
import type { Context } from '../route.ts'

/**
 * The organisation that a report is about. Analytics counts views and knows no organisations, so what the system names is looked up first:
 * an unknown one is 404 and no report of zeros.
 */
export async function reportedOrganisation(
  named: string,
  { caller, services, call }: Pick<Context, 'caller' | 'services' | 'call'>,
): Promise<string> {
  const organisationId = namedOrganisation(caller, named)
  if (isSystemCaller(caller)) await services.organisations.getOrganisation({ organisationId }, call)
  return organisationId
}
