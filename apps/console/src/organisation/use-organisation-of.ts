import { useEffect } from 'react'
import { useSession } from '../api/session.tsx'

/**
 * Selects the organisation of the record that is shown. A system user can open the address of a record of any
 * organisation. Returns false until that organisation is selected.
 */
export function useOrganisationOf(record: { organisation_id: string } | undefined): boolean {
  const { isSystem, organisationId, selectOrganisation } = useSession()
  const otherId = isSystem && record !== undefined && record.organisation_id !== organisationId ? record.organisation_id : undefined
  useEffect(() => {
    if (otherId !== undefined) selectOrganisation(otherId)
  }, [otherId, selectOrganisation])
  return otherId === undefined
}
