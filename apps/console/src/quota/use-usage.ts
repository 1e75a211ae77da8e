import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Vitascope } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'

/** The quota of an organisation and its usage. */
export function usageQuery(api: Vitascope, organisationId: string) {
  return queryOptions({
    queryKey: ['usage', organisationId],
    // Other people and jobs change it at any time.
    staleTime: 0,
    queryFn: ({ signal }) => api.call('getOrganisationUsage', { path: { organisation_id: organisationId }, signal }),
  })
}

/** Reads the quota and the usage of an organisation. The default is the one that is shown. */
export function useUsage(id?: string) {
  const { api, organisationId } = useSession()
  return useQuery(usageQuery(api, id ?? organisationId))
}
