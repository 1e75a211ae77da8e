import { createLoadingCache } from '@vitascope/concurrency'
import type { PreparedResponse } from './send-response.ts'

/**
 * The responses of routes with `sharedByGuests` that are being created. Requests for the same URL
 * share them, so a popular video costs one call at a time. None is kept after it was created: a
 * change through another gateway is visible at once.
 */
export interface GuestResponses {
  /** Returns the response that is being created for a URL, or else creates it. */
  get(url: string, create: () => Promise<PreparedResponse>): Promise<PreparedResponse>
  /** Later requests share none of the current responses. Called after each change by the holder of a key. */
  clear(): void
}

export function createGuestResponses(): GuestResponses {
  return createLoadingCache<PreparedResponse>({ max: 1, ttlMs: () => 0 })
}
