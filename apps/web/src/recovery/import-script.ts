import type { ConnectionRecovery } from './connection-recovery.ts'

/**
 * Thrown if a part of the page's script cannot be loaded although the server responds, because the
 * server runs a newer release than the page.
 */
export class OutdatedPage extends Error {}

/** Number of failures, each after a successful probe, after which the page counts as outdated. */
const MAX_FAILURES = 3

/** Loads a part of the page's script by `load`, which calls `import()`. Retries after outages. */
export async function importScript<Script>(
  load: () => Promise<Script>,
  recovery: ConnectionRecovery,
  signal: AbortSignal,
): Promise<Script> {
  for (let failures = 1; ; failures++) {
    const admission = await recovery.admit(signal)
    try {
      const script = await load()
      admission.reportSuccess()
      return script
    } catch (error) {
      if (failures >= MAX_FAILURES) {
        admission.reportSuccess()
        throw new OutdatedPage('a part of the script cannot be loaded', { cause: error })
      }
      admission.reportFailure()
    }
  }
}
