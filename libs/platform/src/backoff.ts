import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@vitascope/concurrency'

/**
 * Waits before start number `crashes + 1`: up to 0.2 s after the first crash, doubling up to 5 s. Resolves early when `signal`
 * aborts.
 */
export async function backoff(crashes: number, signal: AbortSignal): Promise<void> {
  const ms = backoffMs(crashes, { minMs: 200, maxMs: 5_000 })
  await delay(ms, undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}
