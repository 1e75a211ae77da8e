import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Reconciliation } from './reconcile.ts'

const CHILD_SCRIPT = fileURLToPath(new URL('../reconcile-main.ts', import.meta.url))
/** The process has the counts of one video and of all organisations in memory. 200,000 days of organisations take 90 MiB. */
const HEAP_MIB = 256
/** It is shorter than the hour after which another replica claims the comparison. */
const TIMEOUT_MS = 50 * 60_000

/**
 * Compares the counts with the stored events in a child process. A slow or crashing comparison
 * therefore does not affect the intake of events. Throws if the process ends without a result.
 */
export async function reconcileInChildProcess(databaseUrl: string, signal: AbortSignal): Promise<Reconciliation> {
  const child = fork(CHILD_SCRIPT, {
    execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MIB}`],
    env: {
      ...process.env,
      VITASCOPE_ANALYTICS_DATABASE_URL: databaseUrl,
      VITASCOPE_ANALYTICS_DATABASE_URL_FILE: '',
      VITASCOPE_ANALYTICS_DATABASE_DIRECT_URL: '',
      VITASCOPE_ANALYTICS_DATABASE_DIRECT_URL_FILE: '',
    },
    signal,
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  let result: Reconciliation | undefined
  child.once('message', (message: Reconciliation) => {
    result = message
    child.disconnect()
  })
  const [code, killSignalName] = (await once(child, 'exit')) as [number | null, string | null]
  if (!result) throw new Error(`the comparison of counts with events ended with ${killSignalName ?? code} without a result`)
  return result
}
