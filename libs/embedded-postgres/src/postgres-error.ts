/**
 * Reason why the server could not be created or started, derived from its output.
 *
 * - `NO_BINARIES`: no PostgreSQL package for this machine is installed
 * - `DISK_FULL`: the disk of the data folder is full
 * - `PORT_IN_USE`: another program listens on the port
 * - `DATA_IN_USE`: another running process has started a server on this data folder
 * - `DATA_OF_ANOTHER_USER`: the data folder belongs to a user that this process cannot run as
 * - `DATA_OF_ANOTHER_VERSION`: the data folder was created by another major version
 * - `FAILED`: another reason. The message ends with the last lines of the server's output
 */
export type PostgresProblem =
  | 'NO_BINARIES'
  | 'DISK_FULL'
  | 'PORT_IN_USE'
  | 'DATA_IN_USE'
  | 'DATA_OF_ANOTHER_USER'
  | 'DATA_OF_ANOTHER_VERSION'
  | 'FAILED'

/** Thrown if a database server cannot be created or started. The message is for the operator. */
export class PostgresError extends Error {
  readonly problem: PostgresProblem

  constructor(problem: PostgresProblem, message: string) {
    super(message)
    this.name = 'PostgresError'
    this.problem = problem
  }
}

/** Returns the error for the output of a failed `initdb` or `postgres`. */
export function explainFailure(lines: readonly string[], { dir, port }: { dir: string; port?: number }): PostgresError {
  const text = lines.join('\n')
  if (/No space left on device|Disk quota exceeded|Check free disk space/.test(text)) {
    return new PostgresError('DISK_FULL', `the disk of ${dir} is full: free some space, then start again`)
  }
  if (/could not bind .*Address already in use|could not create any TCP\/IP sockets/s.test(text)) {
    return new PostgresError('PORT_IN_USE', `port ${port} of 127.0.0.1 is used by another program: stop it, or choose another port`)
  }
  const version = /initialized by PostgreSQL version (\S+), which is not compatible with this version (\S+)/.exec(text)
  if (version) {
    return new PostgresError('DATA_OF_ANOTHER_VERSION', `${dir} was created by PostgreSQL ${version[1]}; this is PostgreSQL ${version[2]}`)
  }
  if (/wrong ownership|invalid permissions|Permission denied|could not access directory/.test(text)) {
    return new PostgresError('DATA_OF_ANOTHER_USER', `${dir} cannot be read and written by this user: ${lastLines(lines)}`)
  }
  return new PostgresError('FAILED', `PostgreSQL on ${dir} did not start: ${lastLines(lines)}`)
}

function lastLines(lines: readonly string[]): string {
  return lines.length === 0 ? 'it has no output' : lines.slice(-8).join(' | ')
}
