import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'

/** Runs a task again and again, with a pause between, until the signal; a failure is logged and the next round tries again. */
export async function repeat(
  task: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await task(signal)
    } catch (error) {
      if (!signal.aborted) log[isDomainError(error) ? 'warn' : 'error']({ err: error }, 'a round of housekeeping failed')
    }
    await pause(everyMs, signal)
  }
}

/** The same with a pause before the first round, for what needs neighbours that are still on their way when a service starts. */
export async function repeatLater(...[task, everyMs, log, signal]: Parameters<typeof repeat>): Promise<void> {
  await pause(everyMs, signal)
  await repeat(task, everyMs, log, signal)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // A pause that is cut short is over.
  await delay(ms, undefined, { signal }).catch(() => {})
}
