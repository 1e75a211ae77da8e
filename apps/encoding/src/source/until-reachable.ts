import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'

const PAUSE_MS = 500

/**
 * Repeats an idempotent call until the database is available, so that finished work is not lost in
 * an outage. Throws any other error of the call, and when the signal aborts.
 */
export async function untilReachable<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isDomainError(error) || error.kind !== 'unavailable' || signal.aborted) throw error
      await delay(PAUSE_MS, undefined, { signal })
    }
  }
}
