import { pause } from '../recovery/pause.ts'
import { TemporaryFailure } from './problem.ts'

/** Seconds between attempts. The last value repeats. */
const RETRY_DELAYS_SECONDS = [1, 2, 4, 8, 15]

/** Why a request waits, or undefined while the server responds. */
export type Waiting = TemporaryFailure['reason'] | undefined

/**
 * Returns a function that waits after a failed attempt. It throws errors that are not temporary.
 * The time between attempts grows until `reset` is called. A network that returns ends the wait.
 */
export function createBackoff(signal: AbortSignal): { wait: (error: unknown) => Promise<TemporaryFailure>; reset: () => void } {
  let failures = 0
  return {
    async wait(error) {
      signal.throwIfAborted()
      if (!(error instanceof TemporaryFailure)) throw error
      const seconds = RETRY_DELAYS_SECONDS[Math.min(failures++, RETRY_DELAYS_SECONDS.length - 1)] ?? 1
      await pause(Math.max(seconds, error.retryAfterSeconds) * 1_000, signal)
      signal.throwIfAborted()
      return error
    },
    reset() {
      failures = 0
    },
  }
}
