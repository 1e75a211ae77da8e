import type { QueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'

/** An organisation in a list, which has no usage. */
export type OrganisationRecord = Omit<Schemas['Organisation'], 'usage'>

export const ORGANISATIONS_KEY = ['all organisations']
export const STORAGE_KEY = ['storage']

/** Reads organisations again after one of them has changed. */
export async function refreshOrganisations(queryClient: QueryClient): Promise<void> {
  const names = [ORGANISATIONS_KEY, ['organisations'], ['usage'], STORAGE_KEY]
  await Promise.all(names.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}
