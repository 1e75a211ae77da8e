import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'

/** Runs a task again and again, with a pause before each, until the signal; a failure is logged and the next round tries again. */
export async function repeat(
  task: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(everyMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      await task(signal)
    } catch (error) {
      if (!signal.aborted) log[isDomainError(error) ? 'warn' : 'error']({ err: error }, 'a round of housekeeping failed')
    }
  }
}
