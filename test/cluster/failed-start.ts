import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../tools/lib/run-command.ts'
import { runningPid } from './program.ts'

/** Logs of the last cluster that failed to start. */
export const FAILED_LOGS = join(root, '.cache/cluster-failed')
/** Folders below that of a cluster: logs of its programs and of its pods. */
const LOGS = ['log', 'pods']

/**
 * Stops the remains of a cluster that failed to start. Returns the error to throw, which names the
 * kept logs and the programs that exited.
 */
export async function failedStart(folder: string, cause: unknown, end: () => Promise<void>, logFolder = FAILED_LOGS): Promise<Error> {
  const exitedPrograms = listPrograms(folder).filter((name) => runningPid(folder, name) === undefined)
  const reason = cause instanceof Error ? cause.message : String(cause)
  const exited = exitedPrograms.length === 0 ? '' : `; exited programs: ${exitedPrograms.join(', ')}`
  const failure = new Error(`the cluster did not start: ${reason}${exited}; ${keepLogs(folder, logFolder)}`, { cause })
  try {
    await end()
  } catch (error) {
    return new AggregateError([failure, error], `${failure.message}; and the cleanup failed: ${String(error)}`)
  }
  return failure
}

function listPrograms(folder: string): string[] {
  const pids = join(folder, 'pid')
  return existsSync(pids) ? readdirSync(pids).sort() : []
}

function keepLogs(folder: string, logFolder: string): string {
  const names = LOGS.filter((name) => existsSync(join(folder, name)))
  if (names.length === 0) return 'there are no logs'
  rmSync(logFolder, { recursive: true, force: true })
  for (const name of names) cpSync(join(folder, name), join(logFolder, name), { recursive: true, verbatimSymlinks: true })
  return `its logs are in ${logFolder}`
}
