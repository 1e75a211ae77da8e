import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useSession } from '../api/session.tsx'

export type Presentation = Schemas['Presentation']

const PROCESSING_INTERVAL_MS = 1_500

export function isProcessing({ status }: Presentation): boolean {
  return status.message === 'processing'
}

/** Reads a presentation, and reads it again while a file is converted. */
export function usePresentation(id: string) {
  const { api } = useSession()
  return useQuery<Presentation>({
    queryKey: ['presentation', id],
    refetchInterval: ({ state }) => (state.data && isProcessing(state.data) ? PROCESSING_INTERVAL_MS : false),
    queryFn: ({ signal }) => api.call('getPresentation', { path: { id }, signal }),
  })
}
