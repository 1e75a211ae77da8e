import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Reconciliation } from './reconcile.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))
/** The counts of one video, and those of organisations: 200,000 days of them take 90 MiB. */
const HEAP_MIB = 256
/** Before somebody else tries. */
const LONGEST_MS = 50 * 60_000

/** Compares in a process of its own: what it takes is not taken from those who bring events, and if it dies, it dies alone. */
export async function reconcileApart(databaseUrl: string, signal: AbortSignal): Promise<Reconciliation> {
  const child = fork(MAIN, {
    execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MIB}`],
    env: { ...process.env, VITASCOPE_ANALYTICS_DATABASE_URL: databaseUrl, VITASCOPE_ANALYTICS_DATABASE_URL_FILE: '' },
    signal,
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  })
  let found: Reconciliation | undefined
  child.once('message', (answer: Reconciliation) => {
    found = answer
    child.disconnect()
  })
  const [code, killed] = (await once(child, 'exit')) as [number | null, string | null]
  if (!found) throw new Error(`the comparison of counts with events ended with ${killed ?? code}, and without an answer`)
  return found
}
