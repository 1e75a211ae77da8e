import { useQuery } from '@tanstack/react-query'
import { MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'

/** Reads the ids and names of the folders of the organisation. */
export function useFolders() {
  const { api, organisationId } = useSession()
  return useQuery({
    queryKey: ['folders', organisationId],
    queryFn: async ({ signal }) => {
      const folders: { id: string; name: string }[] = []
      for await (const page of api.list('listFolders', { path: { organisation_id: organisationId }, signal }).pages()) {
        for (const [id, { name }] of page.flatMap((entry) => Object.entries(entry))) folders.push({ id, name })
        if (folders.length >= MAX_RECORDS) break
      }
      return folders
    },
  })
}
