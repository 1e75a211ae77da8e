import { useQuery } from '@tanstack/react-query'
import { useSession } from '../api/session.tsx'

/** Reads the ids and names of the folders of the organisation. */
export function useFolders() {
  const { api, organisationId } = useSession()
  return useQuery({
    queryKey: ['folders', organisationId],
    queryFn: async ({ signal }) => {
      const folders = await api.call('listFolders', { path: { organisation_id: organisationId }, signal })
      return folders.flatMap((entry) => Object.entries(entry)).map(([id, { name }]) => ({ id, name }))
    },
  })
}
