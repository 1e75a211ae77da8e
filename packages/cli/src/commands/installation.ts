import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '../context.ts'

/** Commands that work on the database and the files of a platform. They are programs of its checkout. */
export const INSTALLATION_COMMANDS: Readonly<Record<string, string>> = {
  backup: 'back up a platform, running or not, into a folder',
  restore: 'restore a backup into an empty platform',
  sweep: 'compare objects with rows, and delete objects without a row',
  undelete: 'restore deleted objects of a bucket with versioning',
  reconcile: 'compare the counts of analytics with the events',
  'rotate-key': 'change a key file for one step of a key rotation',
  rekey: 'encrypt all stored secrets with the first master key',
  'import-postcodes': 'import a GeoNames postal code file',
}

/** A file that only a checkout of the platform has. */
const PROGRAM = 'apps/cli/src/main.ts'

/** Runs a command in the checkout of the platform, on this terminal. Returns its exit code, 1 if a signal ended it. */
export async function runInInstallation(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const folder = findInstallation(env)
  // Paths among the arguments are relative to the present folder.
  const child = spawn(process.execPath, [join(folder, 'tools/with-node.mjs'), 'tools/vitascope.ts', name, ...args], {
    env: { ...env, VITASCOPE_DATA_DIR: env['VITASCOPE_DATA_DIR'] || join(folder, 'data') },
    stdio: 'inherit',
  })
  // The terminal sends Ctrl-C to both processes, and this one ends after its child.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

/** Returns the checkout in `VITASCOPE_HOME`, or the one that contains the present folder. */
function findInstallation(env: NodeJS.ProcessEnv): string {
  const home = env['VITASCOPE_HOME']
  if (home) {
    if (existsSync(join(home, PROGRAM))) return home
    throw new UsageError(`VITASCOPE_HOME is not a checkout of the platform: ${join(home, PROGRAM)} does not exist`)
  }
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if (existsSync(join(folder, PROGRAM))) return folder
    if (folder === dirname(folder)) break
  }
  throw new UsageError('this command works on the data of a platform: run it in its checkout, or set VITASCOPE_HOME to the checkout')
}
