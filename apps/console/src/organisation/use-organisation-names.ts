import { useQuery } from '@tanstack/react-query'
import { systemClient } from '../api/client.ts'
import { MAX_RECORDS } from '../api/max-records.ts'

/** Reads the names of all active organisations by their ids, for system users. */
export function useOrganisationNames({ enabled = true }: { enabled?: boolean } = {}) {
  return useQuery({
    queryKey: ['organisations'],
    enabled,
    queryFn: async ({ signal }): Promise<Readonly<Record<string, string>>> =>
      Object.fromEntries(await systemClient.list('listOrganisationNames', { signal }).toArray(MAX_RECORDS)),
  })
}
