import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError } from '@vitascope/config'
import { PostgresError } from '@vitascope/embedded-postgres'
import { isDomainError } from '@vitascope/errors'
import { createLogPrinter, readPlatformConfig, StartError } from '@vitascope/platform'
import { SnapshotError } from '@vitascope/postgres'
import { backUp } from './backup.ts'
import { BackupError } from './backup-error.ts'
import { listBackups, type Manifest } from './backup-folder.ts'
import { openSource } from './open-platform.ts'
import { openTarget } from './open-target.ts'
import { restore, verify } from './restore.ts'

/** Maximum number of backups in a folder. Their lists are read at the same time. */
const MAX_KEPT = 1_000
/** Errors of the folder or a file of a backup. Their messages name the file. */
const FILE_ERRORS: ReadonlySet<string> = new Set(['ENOENT', 'ENOSPC', 'EACCES', 'EPERM', 'EROFS'])

/** Runs `npm run backup -- --to DIR [--keep N] [--without-secrets]` and returns the exit code. */
export function backupCommand(args: readonly string[]): Promise<number> {
  return runCommand('the backup failed', async () => {
    const options = { to: { type: 'string' }, keep: { type: 'string' }, 'without-secrets': { type: 'boolean' } } as const
    const { values } = parseArgs({ args: [...args], options })
    const keep = Number(values.keep ?? '1')
    if (!values.to || !Number.isSafeInteger(keep) || keep < 1 || keep > MAX_KEPT) {
      return usage(`backup --to DIR [--keep N] [--without-secrets], with N from 1 to ${MAX_KEPT}`)
    }
    const folder = resolve(values.to)
    const logPrinter = createLogPrinter(process.stderr)
    const source = await openSource(readPlatformConfig(process.env), logPrinter, !values['without-secrets'])
    try {
      const { takenAt, missing } = await backUp(source, folder, { keep, print })
      for (const name of missing) print(`missing: ${name} is referenced by a row, but is not in storage`)
      print(`the backup of ${takenAt} is complete in ${folder}`)
      return 0
    } finally {
      await source.close()
    }
  })
}

/** Runs `npm run restore -- --from DIR [--at TIME] [--verify]` or `--list`, and returns the exit code. */
export function restoreCommand(args: readonly string[]): Promise<number> {
  return runCommand('the restore failed', async () => {
    const options = { from: { type: 'string' }, at: { type: 'string' }, list: { type: 'boolean' }, verify: { type: 'boolean' } } as const
    const { values } = parseArgs({ args: [...args], options })
    if (!values.from) return usage('restore --from DIR [--at TIME] [--verify], or restore --from DIR --list')
    const folder = resolve(values.from)
    const backups = await listBackups(folder)
    if (values.list) {
      for (const { takenAt, objects } of backups) print(`${takenAt}  ${objects.count} objects of ${objects.bytes} bytes`)
      return 0
    }
    const manifest = values.at === undefined ? backups[0] : findBackupAt(backups, values.at)
    if (!manifest)
      throw new BackupError(`there is no complete backup in ${folder}${values.at === undefined ? '' : ` from ${values.at} or before`}`)
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

/** Returns the newest backup of this time or before. */
function findBackupAt(backups: readonly Manifest[], time: string): Manifest | undefined {
  const limit = Date.parse(time)
  if (Number.isNaN(limit)) throw new BackupError(`${time} is not a time such as 2026-01-31T12:00:00Z`)
  return backups.find(({ takenAt }) => Date.parse(takenAt) <= limit)
}

async function runCommand(prefix: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const { code, message, stack } = error as NodeJS.ErrnoException
    if (code?.startsWith('ERR_PARSE_ARGS')) return fail(message, 2)
    const isKnown = [BackupError, SnapshotError, StartError, ConfigError, PostgresError].some((kind) => error instanceof kind)
    const isExpected = isKnown || isDomainError(error) || FILE_ERRORS.has(code ?? '')
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
