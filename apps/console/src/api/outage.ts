import { useQueryClient } from '@tanstack/react-query'
import { VitascopeError } from '@vitascope/sdk'
import { useCallback, useSyncExternalStore } from 'react'

/**
 * Returns why what the page shows is not up to date: `no answer` while the browser is offline or the platform does not
 * answer, or the error of the last request for shown data. Errors of requests without earlier data are shown in their place.
 */
export function useOutage(): 'no answer' | VitascopeError | undefined {
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine)
  const cache = useQueryClient().getQueryCache()
  const subscribe = useCallback((onChange: () => void) => cache.subscribe(onChange), [cache])
  const outage = useSyncExternalStore(subscribe, () => {
    const states = cache.findAll({ type: 'active' }).map(({ state }) => state)
    // Requests without an answer are repeated without end, so they have no error.
    if (states.some(({ fetchFailureReason }) => statusOf(fetchFailureReason) === 0)) return 'no answer'
    const failed = states.find(({ data, error }) => data !== undefined && statusOf(error) >= 500)
    return failed?.error instanceof VitascopeError ? failed.error : undefined
  })
  return isOnline ? outage : 'no answer'
}

function statusOf(error: unknown): number {
  return error instanceof VitascopeError ? error.status : Number.NaN
}

function subscribeToNetwork(onChange: () => void): () => void {
  for (const event of ['online', 'offline']) addEventListener(event, onChange)
  return () => {
    for (const event of ['online', 'offline']) removeEventListener(event, onChange)
  }
}
