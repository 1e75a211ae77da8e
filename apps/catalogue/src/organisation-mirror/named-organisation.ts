import { invalid, notFound } from '@vitascope/errors'
import type { Principal } from '@vitascope/grpc'
import { parseId } from '../id/id.ts'
import { organisationFor, type Scope } from '../visibility.ts'
import type { Organisations } from './organisation.ts'

/** The organisation that a request names, known to exist; of a user its own; null for a system caller's none. */
export async function namedOrganisation(
  organisations: Organisations,
  principal: Principal,
  named: string,
  signal: AbortSignal,
): Promise<Scope> {
  const organisationId = organisationFor(principal, named)
  if (organisationId === undefined) return null
  if (!parseId(organisationId)) throw notFound('organisation', organisationId)
  await organisations.need(organisationId, signal)
  return organisationId
}

/** The same where one is needed: system callers must name one. */
export async function needOrganisation(
  organisations: Organisations,
  principal: Principal,
  named: string,
  signal: AbortSignal,
): Promise<string> {
  const organisationId = await namedOrganisation(organisations, principal, named, signal)
  if (organisationId === null) throw invalid([{ field: 'organisation_id', message: 'is required' }])
  return organisationId
}
