import { createLoadingCache } from '@vitascope/concurrency'
import type { PreparedResponse } from './send-response.ts'

/** How long a response is sent again after it was created. */
const TTL_MS = 1_000
/** Maximum total size of the responses, each counted with some bytes for its key and headers. */
const MAX_BYTES = 64 * 1024 * 1024
const ENTRY_BYTES = 1_024

/** The recent responses of routes with `sharedByGuests`. Responses to keys are never in it. */
export interface GuestResponses {
  /** Returns the response of a URL if it is at most a second old, or else creates it. Concurrent requests share it. */
  get(url: string, create: () => Promise<PreparedResponse>): Promise<PreparedResponse>
  /** Drops all responses, also those that are being created. Called after each change by the holder of a key. */
  clear(): void
}

export function createGuestResponses(): GuestResponses {
  return createLoadingCache<PreparedResponse>({
    maxSize: MAX_BYTES,
    sizeOf: ({ contentLength }) => contentLength + ENTRY_BYTES,
    ttlMs: () => TTL_MS,
  })
}
