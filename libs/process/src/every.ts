import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'

/**
 * Runs a task repeatedly with a pause after each round, until the signal aborts. A failure is logged; the next round
 * tries again.
 */
export async function every(
  task: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await task(signal)
    } catch (error) {
      if (!signal.aborted)
        log[isDomainError(error) ? 'warn' : 'error']({ err: error }, 'a periodic task failed; it runs again at its next time')
    }
    await pause(everyMs, signal)
  }
}

/** Same as `every` with a pause before the first round, for tasks that call services that may still be starting. */
export async function everyAfterDelay(...[task, everyMs, log, signal]: Parameters<typeof every>): Promise<void> {
  await pause(everyMs, signal)
  await every(task, everyMs, log, signal)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The pause ends early if the signal aborts.
  await delay(ms, undefined, { signal }).catch(() => {})
}
