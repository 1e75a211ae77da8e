import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { VitascopeError } from '@vitascope/sdk'
import { isSignedOut } from './client.ts'

type Listener = () => void
const listeners = new Set<Listener>()

/** Calls the listener when a request finds that the session has ended. Returns a function that ends this. */
export function onSessionEnd(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function reportEnd(error: unknown): void {
  if (isSignedOut(error)) for (const listener of listeners) listener()
}

function hasNoAnswer(error: unknown): boolean {
  return error instanceof VitascopeError && error.status === 0
}

/** The client of the API retries by itself, so queries are not repeated here while the platform is reachable. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: reportEnd }),
  mutationCache: new MutationCache({
    onError(error) {
      reportEnd(error)
      // The shown queries are repeated until there is an answer. `OutageAlert` shows their failures.
      if (hasNoAnswer(error)) void queryClient.invalidateQueries({ refetchType: 'active' })
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A platform that restarts under an open page is found again without a reload.
      retry: (_failures, error) => hasNoAnswer(error),
      retryDelay: 2_000,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
