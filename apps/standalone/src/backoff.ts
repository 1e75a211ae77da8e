import { setTimeout as delay } from 'node:timers/promises'

/** Waits before start number `deaths + 1`: 0.2 s doubling to 5 s; ends early when `signal` aborts. */
export async function backoff(deaths: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(5_000, 100 * 2 ** Math.min(deaths, 6))
  await delay(ms, undefined, { signal }).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}
