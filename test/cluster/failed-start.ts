import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../tools/lib/run-command.ts'
import { runningPid } from './program.ts'

/** Logs of the last cluster that failed to start. */
export const KEPT = join(root, '.cache/cluster-failed')
/** Folders below that of a cluster: logs of its programs and of its pods. */
const LOGS = ['log', 'pods']

/**
 * Stops the remains of a cluster that failed to start. Returns the error to throw, which names the
 * kept logs and the programs that exited.
 */
export async function failedStart(folder: string, cause: unknown, end: () => Promise<void>, kept = KEPT): Promise<Error> {
  const gone = programsOf(folder).filter((name) => runningPid(folder, name) === undefined)
  const why = cause instanceof Error ? cause.message : String(cause)
  const exited = gone.length === 0 ? '' : `; exited programs: ${gone.join(', ')}`
  const failure = new Error(`the cluster did not start: ${why}${exited}; ${keepLogs(folder, kept)}`, { cause })
  try {
    await end()
  } catch (error) {
    return new AggregateError([failure, error], `${failure.message}; and the cleanup failed: ${String(error)}`)
  }
  return failure
}

function programsOf(folder: string): string[] {
  const pids = join(folder, 'pid')
  return existsSync(pids) ? readdirSync(pids).sort() : []
}

function keepLogs(folder: string, kept: string): string {
  const found = LOGS.filter((name) => existsSync(join(folder, name)))
  if (found.length === 0) return 'there are no logs'
  rmSync(kept, { recursive: true, force: true })
  for (const name of found) cpSync(join(folder, name), join(kept, name), { recursive: true, verbatimSymlinks: true })
  return `its logs are in ${kept}`
}
