import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError } from '@vitascope/config'
import { PostgresError } from '@vitascope/embedded-postgres'
import { isDomainError } from '@vitascope/errors'
import { createLogPrinter, readPlatformConfig, StartError } from '@vitascope/platform'
import { SnapshotError } from '@vitascope/postgres'
import { backUp } from './backup.ts'
import { BackupError } from './backup-error.ts'
import { readManifest } from './backup-folder.ts'
import { openSource } from './open-platform.ts'
import { openTarget } from './open-target.ts'
import { restore, verify } from './restore.ts'

/** Runs `npm run backup -- --to DIR [--without-secrets]` and returns the exit code. */
export function backupCommand(args: readonly string[]): Promise<number> {
  return runCommand('the backup failed', async () => {
    const { values } = parseArgs({ args: [...args], options: { to: { type: 'string' }, 'without-secrets': { type: 'boolean' } } })
    if (!values.to) return usage('backup --to DIR [--without-secrets]')
    const folder = resolve(values.to)
    const logPrinter = createLogPrinter(process.stderr)
    const source = await openSource(readPlatformConfig(process.env), logPrinter, !values['without-secrets'])
    try {
      const { takenAt, missing } = await backUp(source, folder, print)
      for (const name of missing) print(`missing: ${name} is referenced by a row, but is not in storage`)
      print(`the backup of ${takenAt} is complete in ${folder}`)
      return 0
    } finally {
      await source.close()
    }
  })
}

/** Runs `npm run restore -- --from DIR [--verify]` and returns the exit code. */
export function restoreCommand(args: readonly string[]): Promise<number> {
  return runCommand('the restore failed', async () => {
    const { values } = parseArgs({ args: [...args], options: { from: { type: 'string' }, verify: { type: 'boolean' } } })
    if (!values.from) return usage('restore --from DIR [--verify]')
    const folder = resolve(values.from)
    const manifest = await readManifest(folder)
    if (!manifest) throw new BackupError(`there is no complete backup in ${folder}`)
    const config = readPlatformConfig(process.env)
    const target = await openTarget(config, { manifest, folder }, createLogPrinter(process.stderr))
    try {
      await restore(manifest, folder, target, print)
      await target.finish()
      const problems = values.verify ? await verify(manifest, folder, target) : []
      for (const problem of problems) print(`wrong: ${problem}`)
      if (problems.length > 0) throw new BackupError(`the check found ${problems.length} problems, which are listed above`)
      print(`the backup of ${manifest.takenAt} is restored${values.verify ? ' and verified' : ''}: start the platform`)
      return 0
    } finally {
      await target.close()
    }
  })
}

async function runCommand(prefix: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const { code, message, stack } = error as NodeJS.ErrnoException
    if (code?.startsWith('ERR_PARSE_ARGS')) return fail(message, 2)
    const isKnown = [BackupError, SnapshotError, StartError, ConfigError, PostgresError].some((kind) => error instanceof kind)
    const isExpected = isKnown || isDomainError(error) || ['ENOSPC', 'EACCES', 'EPERM', 'EROFS'].includes(code ?? '')
    return fail(`${prefix}: ${isExpected ? message : stack}`, 1)
  }
}

function usage(text: string): number {
  return fail(`usage: ${text}`, 2)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}
