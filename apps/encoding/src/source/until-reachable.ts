import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'

const PAUSE_MS = 500

/** Repeats something harmless to repeat until the database answers: what was done is not given up because it cannot be written down just now. */
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
