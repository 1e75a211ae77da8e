import { useQuery } from '@tanstack/react-query'
import { MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'

/** Reads the users of an organisation, by default of the one that is shown. */
export function useUsers(requestedId?: string) {
  const { api, organisationId: shownId } = useSession()
  const organisationId = requestedId ?? shownId
  return useQuery({
    queryKey: ['users', organisationId],
    queryFn: ({ signal }) => api.list('listUsers', { query: { organisation_id: organisationId }, signal }).toArray(MAX_RECORDS),
  })
}
