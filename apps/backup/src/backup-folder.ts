import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DumpedSequence, DumpedTable } from '@vitascope/postgres'
import { BackupError } from './backup-error.ts'

/** An object of a backup. */
export interface BackedObject {
  name: string
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/** Manifest of a complete backup. It is written last. */
export interface Manifest {
  format: 1
  /** Time of the snapshot, by the database's clock. */
  takenAt: string
  /**
   * Folder of this backup's tables, lists and secrets. Objects lie next to it, and other backups in
   * the same folder use them, too.
   */
  run: string
  schemas: {
    schema: string
    migrations: string[]
    tables: (DumpedTable & { rows: number; sha256: string })[]
    sequences: DumpedSequence[]
  }[]
  objects: { count: number; bytes: number }
  /** Objects that rows refer to and that were missing in storage. */
  missing: string[]
  /** Files of `secrets/`. Empty if they are kept elsewhere. */
  secrets: string[]
}

const MANIFEST = 'manifest.json'

export const paths = {
  objects: (folder: string) => join(folder, 'objects'),
  secrets: (folder: string) => join(folder, 'secrets'),
  secretsOf: (folder: string, run: string) => join(folder, run, 'secrets'),
  table: (folder: string, run: string, { schema, table }: DumpedTable) => join(folder, run, `${schema}.${table}.copy.gz`),
  names: (folder: string, run: string) => join(folder, run, 'names.gz'),
  list: (folder: string, run: string) => join(folder, run, 'objects.jsonl.gz'),
}

/**
 * Returns the manifest of the backup in a folder, or undefined for an empty folder. Throws
 * `BackupError` if the manifest is unreadable or of a later version.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest
    if (manifest.format !== 1) throw new BackupError(`the backup in ${folder} was made by a later version: use that version`)
    return manifest
  } catch (error) {
    if (error instanceof SyntaxError) throw new BackupError(`${join(folder, MANIFEST)} is not a valid manifest of a backup`)
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') throw notAFolder(folder)
    if (code !== 'ENOENT') throw error
  }
  return undefined
}

/** Creates the folder if it does not exist. Throws `BackupError` if it contains other files than those of backups. */
export async function openFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw notAFolder(folder)
    throw error
  })
  const foreign = names.find((name) => !isBackupEntry(name))
  if (foreign !== undefined)
    throw new BackupError(`${folder} contains ${foreign}, which is not part of a backup: use a new folder, or that of an earlier backup`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Creates a folder for this run. Remains of an interrupted run are kept. */
export async function beginRun(folder: string): Promise<string> {
  const run = `run-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}-${randomBytes(3).toString('hex')}`
  await mkdir(join(folder, run), { recursive: true, mode: 0o700 })
  await mkdir(paths.secrets(folder), { recursive: true, mode: 0o700 })
  return run
}

function notAFolder(folder: string): BackupError {
  return new BackupError(`${folder} is not a folder: its path contains a file`)
}

function isBackupEntry(name: string): boolean {
  return /^(manifest[.]json([.]new)?|objects|secrets|run-[0-9a-f-]+|running([.][0-9a-f-]+)?)$/.test(name)
}

/**
 * Makes this backup the current one, and removes the oldest ones, so that `keep` backups remain. Returns the remaining
 * ones, newest first.
 */
export async function finishRun(folder: string, manifest: Manifest, keep: number): Promise<Manifest[]> {
  const earlier = await readManifest(folder)
  for (const backup of earlier === undefined ? [manifest] : [earlier, manifest]) await writeManifest(join(folder, backup.run), backup)
  await writeManifest(folder, manifest)
  const kept = (await listBackups(folder)).slice(0, keep)
  for (const name of await readdir(folder)) {
    if (name.startsWith('run-') && !kept.some(({ run }) => run === name)) await rm(join(folder, name), { recursive: true, force: true })
  }
  return kept
}

/**
 * Returns the complete backups in a folder, newest first. The current one is the newest, even if the clock of the
 * database was ahead at an earlier one.
 */
export async function listBackups(folder: string): Promise<Manifest[]> {
  const current = await readManifest(folder)
  if (current === undefined) return []
  const runs = (await readdir(folder)).filter((name) => name.startsWith('run-') && name !== current.run)
  const others = await Promise.all(runs.map((run) => readManifest(join(folder, run))))
  const complete = others.filter((manifest) => manifest !== undefined)
  return [current, ...complete.toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1))]
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const file = join(folder, `${MANIFEST}.new`)
  const handle = await open(file, 'w', 0o600)
  await handle.writeFile(`${JSON.stringify(manifest, undefined, 1)}\n`)
  await handle.sync()
  await handle.close()
  await rename(file, join(folder, MANIFEST))
  const dir = await open(folder)
  await dir.sync()
  await dir.close()
}
