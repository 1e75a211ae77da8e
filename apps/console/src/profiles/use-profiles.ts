import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'

export type Profile = Schemas['PlayerSettings']
export type Theme = Schemas['Theme']

/** Reads the player settings profiles of the organisation. */
export function useProfiles() {
  const { api, organisationId } = useSession()
  return useQuery<Profile[]>({
    queryKey: ['profiles', organisationId],
    queryFn: async ({ signal }) => {
      const pairs = await api.list('listSettings', { path: { organisation_id: organisationId }, signal }).toArray(MAX_RECORDS)
      return pairs.map(([, profile]) => profile)
    },
  })
}

/** Reads the themes of the organisation. */
export function useThemes() {
  const { api, organisationId } = useSession()
  return useQuery<Theme[]>({
    queryKey: ['themes', organisationId],
    queryFn: ({ signal }) => api.list('listThemes', { signal }).toArray(MAX_RECORDS),
  })
}
