import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { PostgresError } from './postgres-error.ts'

/** The kernel's user `nobody`, which owns nothing else. */
const NOBODY_UID = 65534

/**
 * Returns the command prefix for a server whose files are in `dir`. PostgreSQL refuses to run as root. If this process
 * is root, the server therefore runs in a user namespace without a mapping, and root still owns the files. If the
 * kernel forbids that, the server runs as `nobody`, which then owns the files. If the files belong to another user, the
 * server runs as that user. If the machine supports it, the server is stopped when the process that started it ends.
 */
export function serverUser(dir: string): string[] {
  const processUser = process.getuid?.() ?? 0
  const owner = statSync(dir).uid
  const parentDeathOptions = succeeds('setpriv', '--pdeathsig', 'INT', 'true') ? ['--pdeathsig', 'INT'] : []
  const parentDeathCommand = parentDeathOptions.length === 0 ? [] : ['setpriv', ...parentDeathOptions, '--']

  if (processUser !== 0) {
    if (owner !== processUser) {
      throw new PostgresError(
        'DATA_OF_ANOTHER_USER',
        `${dir} belongs to user ${owner}, but this process runs as user ${processUser}: start it as user ${owner}`,
      )
    }
    // Containers may run with ids that are not in /etc/passwd, which PostgreSQL rejects. In a user namespace it runs
    // as `nobody`.
    return hasUserName() ? parentDeathCommand : ['unshare', '--user', '--', ...parentDeathCommand]
  }
  if (owner === 0 && succeeds('unshare', '--user', 'true')) return ['unshare', '--user', '--', ...parentDeathCommand]
  const user = owner === 0 ? NOBODY_UID : owner
  if (owner === 0) spawnSync('chown', ['-R', `${NOBODY_UID}:${NOBODY_UID}`, dir])
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all', ...parentDeathOptions, '--']
}

function hasUserName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** The server gets a minimal environment; PGDATA, PGPORT and similar variables would change its behaviour. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC' }
