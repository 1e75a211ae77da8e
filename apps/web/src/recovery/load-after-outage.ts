import type { ConnectionRecovery } from './connection-recovery.ts'

/**
 * Returns the result of `load`, which throws in an outage. After a failure, `load` is called again
 * when a recovery ends. Use it for files that playback does not require: their failure starts no
 * recovery. Rejects when the signal aborts.
 */
export async function loadAfterOutage<Result>(
  load: () => Promise<Result>,
  recovery: ConnectionRecovery,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    const { endedRecoveries } = recovery
    try {
      return await load()
    } catch {
      await recovery.waitForEnd(endedRecoveries, signal)
    }
  }
}
