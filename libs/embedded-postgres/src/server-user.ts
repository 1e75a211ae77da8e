import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { PostgresError } from './postgres-error.ts'

/** The kernel's "nobody": an id that owns nothing else. */
const nobody = 65534

/**
 * What to put before the command of a server whose files lie in `dir`. PostgreSQL refuses to run as root; there it runs
 * in a user namespace without a mapping, where files stay root's, or, where the kernel forbids that, as nobody, who then
 * owns the files. Where the machine can, the server is told to stop when the process that started it dies.
 */
export function serverUser(dir: string): string[] {
  const self = process.getuid?.() ?? 0
  const owner = statSync(dir).uid
  const leash = works('setpriv', '--pdeathsig', 'INT', 'true') ? ['--pdeathsig', 'INT'] : []
  const leashed = leash.length === 0 ? [] : ['setpriv', ...leash, '--']

  if (self !== 0) {
    if (owner !== self) {
      throw new PostgresError('DATA_OF_ANOTHER_USER', `${dir} belongs to user ${owner} and this is user ${self}: start it as that user`)
    }
    // Containers run under ids that /etc/passwd does not know, and PostgreSQL refuses those: in a namespace it is nobody.
    return isKnown() ? leashed : ['unshare', '--user', '--', ...leashed]
  }
  if (owner === 0 && works('unshare', '--user', 'true')) return ['unshare', '--user', '--', ...leashed]
  const user = owner === 0 ? nobody : owner
  if (owner === 0) spawnSync('chown', ['-R', `${nobody}:${nobody}`, dir])
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all', ...leash, '--']
}

function isKnown(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** The server gets no more of our environment than it needs; PGDATA, PGPORT and the like would change what it does. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' }
