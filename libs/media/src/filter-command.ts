import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { callFilter } from './call-filter.ts'
import { insideCommand } from './landlock.ts'
import { toolEnvironment } from './sandbox.ts'

let found: Promise<string[]> | undefined

/**
 * Returns the command before LibreOffice, which is sandboxed by other means, that blocks system calls it does not
 * need. Empty if this machine does not support filters. It requires no_new_privs.
 */
export function officeFilterCommand(): Promise<string[]> {
  found ??= findCommand()
  return found
}

async function findCommand(): Promise<string[]> {
  const filter = callFilter('office')
  if (!filter) return []
  const command = insideCommand('/usr/bin/perl', { filter })
  const trial = promisify(execFile)('setpriv', ['--no-new-privs', '--', ...command, '/bin/true'], { env: toolEnvironment })
  return trial.then(
    () => command,
    () => [],
  )
}
