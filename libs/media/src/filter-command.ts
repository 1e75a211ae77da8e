import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { callFilter } from './call-filter.ts'
import { restrictedCommand } from './landlock.ts'
import { toolEnvironment } from './sandbox.ts'

let cachedCommand: Promise<string[]> | undefined

/**
 * Returns a command prefix for LibreOffice that blocks unneeded system calls. It requires
 * no_new_privs, and complements the sandbox of LibreOffice. Returns an empty list if this machine
 * does not support filters.
 */
export function officeFilterCommand(): Promise<string[]> {
  cachedCommand ??= findCommand()
  return cachedCommand
}

async function findCommand(): Promise<string[]> {
  const filter = callFilter('office')
  if (!filter) return []
  const command = restrictedCommand('/usr/bin/perl', { filter })
  const trial = promisify(execFile)('setpriv', ['--no-new-privs', '--', ...command, '/bin/true'], { env: toolEnvironment })
  return trial.then(
    () => command,
    () => [],
  )
}
