import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { findBinaries } from './binaries.ts'
import { explainFailure, PostgresError } from './postgres-error.ts'
import { isAlive } from './postmaster-file.ts'
import { serverEnvironment, serverUser } from './server-user.ts'

/**
 * Creates a database cluster in `dir` unless there is one. Returns whether it created one. With a password, the user
 * `postgres` must use it (SCRAM). Without one every local user may connect, which is for throw-away data only. The
 * cluster is created in a temporary folder and renamed at the end, so an existing folder is always complete. `binDir` is
 * the folder of the server programs, by default those of the installed package.
 */
export async function initDatabase(
  dir: string,
  { password, durable = true, binDir }: { password?: string; durable?: boolean; binDir?: string } = {},
  signal?: AbortSignal,
): Promise<boolean> {
  const target = resolve(dir)
  if (isDatabase(target)) return false
  const { initdb } = findBinaries(binDir)
  removeAbandonedFolders(target)
  const temporaryDir = `${target}.partial-${process.pid}`
  try {
    mkdirSync(temporaryDir, { recursive: true, mode: 0o700 })
    const secret = join(temporaryDir, 'password')
    writeFileSync(secret, `${password ?? ''}\n`, { mode: 0o600 })
    const [command = initdb, ...args] = [
      ...serverUser(temporaryDir),
      initdb,
      ...['-D', join(temporaryDir, 'data'), '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8'],
      ...(password === undefined ? ['--auth=trust'] : ['--auth=scram-sha-256', `--pwfile=${secret}`]),
      ...(durable ? [] : ['--no-sync', '--no-data-checksums']),
    ]
    // `serverUser` may have changed the owner of the folder from root to `nobody`; the password file needs the same
    // owner.
    const { uid, gid } = statSync(temporaryDir)
    if (process.getuid?.() === 0) chownSync(secret, uid, gid)
    await run(command, args, target, signal)
    if (isDatabase(target)) return false
    renameSync(join(temporaryDir, 'data'), target)
    if (durable) syncFolder(dirname(target))
    return true
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? explainFailure(['No space left on device'], { dir: target }) : error
  } finally {
    rmSync(temporaryDir, { recursive: true, force: true })
  }
}

function isDatabase(dir: string): boolean {
  if (!existsSync(dir)) return false
  // Throws for a folder of another user, whose content cannot be listed.
  serverUser(dir)
  if (existsSync(join(dir, 'PG_VERSION'))) return true
  if (readdirSync(dir).length > 0) throw new PostgresError('FAILED', `${dir} is not empty and contains no database: choose another folder`)
  return false
}

async function run(command: string, args: string[], dir: string, signal: AbortSignal | undefined): Promise<void> {
  const child = spawn(command, args, {
    cwd: '/',
    env: serverEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  })
  const [errorOutput, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code === 0) return
  const lines = errorOutput.trim().split('\n')
  const problem = explainFailure(lines, { dir })
  throw problem.problem === 'FAILED'
    ? new PostgresError('FAILED', `creating a database in ${dir} failed: ${lines.slice(-8).join(' | ')}`)
    : problem
}

/** Deletes temporary folders of processes that were killed. */
function removeAbandonedFolders(target: string): void {
  const parent = dirname(target)
  if (!existsSync(parent)) return
  const prefix = `${basename(target)}.partial-`
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
    if (pid > 0 && (pid === process.pid || !isAlive(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function syncFolder(dir: string): void {
  const handle = openSync(dir, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
