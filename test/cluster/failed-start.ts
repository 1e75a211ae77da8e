import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../tools/lib/run-command.ts'
import { runningPid } from './program.ts'

/** Folder with the logs of the last cluster that failed to start. */
export const FAILED_LOGS = join(root, '.cache/cluster-failed')
/** Subfolders of a cluster's folder with the logs of its programs and of its pods. */
const LOG_SUBFOLDERS = ['log', 'pods']

/**
 * Copies the logs of a cluster that failed to start, and stops its remaining programs by `end`. Returns
 * the error to throw. It names the folder of the logs, the programs that exited, and the error of a
 * failed `end`.
 */
export async function failedStart(folder: string, cause: unknown, end: () => Promise<void>, logFolder = FAILED_LOGS): Promise<Error> {
  const exitedPrograms = listPrograms(folder).filter((name) => runningPid(folder, name) === undefined)
  const reason = cause instanceof Error ? cause.message : String(cause)
  const exited = exitedPrograms.length === 0 ? '' : `; exited programs: ${exitedPrograms.join(', ')}`
  const failure = new Error(`the cluster did not start: ${reason}${exited}; ${describeLogs(folder, logFolder)}`, { cause })
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

/** Keeps the logs. Returns a clause for the error message, also if they cannot be copied. */
function describeLogs(folder: string, logFolder: string): string {
  try {
    return keepLogs(folder, logFolder)
  } catch (error) {
    return `its logs cannot be copied: ${String(error)}`
  }
}

/** Copies the logs, which replaces those of an earlier failed start. Returns a clause for the error message. */
function keepLogs(folder: string, logFolder: string): string {
  const names = LOG_SUBFOLDERS.filter((name) => existsSync(join(folder, name)))
  if (names.length === 0) return 'there are no logs'
  rmSync(logFolder, { recursive: true, force: true })
  for (const name of names) cpSync(join(folder, name), join(logFolder, name), { recursive: true, verbatimSymlinks: true })
  return `its logs are in ${logFolder}`
}
