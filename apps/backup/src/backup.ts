import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type DumpedTable, type Snapshot, takeSnapshot } from '@vitascope/postgres'
import { type ObjectInfo, type ObjectStorage, openFileStorage, unsyncedDisk } from '@vitascope/storage'
import { type BackedObject, beginRun, finishRun, listBackups, type Manifest, openFolder, paths } from './backup-folder.ts'
import { copyObjects, mergeLists, syncAll, withEarlier } from './copy-objects.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { LEVEL, readLines, writeLines } from './json-lines.ts'
import { readReferencedObjects } from './referenced-objects.ts'
import { holdSweep } from './sweep-hold.ts'

export interface BackupOptions {
  /** Number of backups in the folder, with this one. Older ones are removed. */
  keep: number
  print(line: string): void
}

export interface BackupSource {
  /** Database URL per schema, with a role that may read it. */
  urls: Readonly<Record<string, string>>
  storage: ObjectStorage
  /** Secret files by their names in the backup. Empty if they are kept elsewhere. */
  secrets: Readonly<Record<string, string>>
}

/** Query for the objects to back up. It runs in the same snapshot as the rows. */
const REFERENCED_NAMES = `select name, is_required from encoding.stored_name where is_kept order by name collate "C"`
/** Tables that are excluded, because they only concern the current moment and the backup itself. */
const EXCLUDED_TABLES = ['sweep_hold']

/**
 * Writes a consistent snapshot of the platform into a folder: first the rows, all from one database
 * snapshot, then the objects that they refer to. Objects never change, and none is deleted during
 * the backup, so each still exists when it is copied. An earlier backup in the folder stays valid
 * until this one is complete. Objects that several backups contain are stored once. Throws `BackupError` while another
 * backup writes into the folder.
 */
export async function backUp(source: BackupSource, folder: string, options: BackupOptions): Promise<Manifest> {
  await openFolder(folder)
  const lock = await lockFolder(folder)
  try {
    return await writeBackup(source, folder, lock, options)
  } finally {
    await lock.release()
  }
}

async function writeBackup(source: BackupSource, folder: string, lock: FolderLock, { keep, print }: BackupOptions): Promise<Manifest> {
  const earlier = await listBackups(folder)
  const run = await beginRun(folder)
  const hold = await holdSweep(source.urls['encoding'] ?? '')
  try {
    const database = await dumpDatabase(source, folder, run)
    print(`database: ${database.rows} rows of ${database.takenAt}`)
    const { objects, missing } = await backUpObjects(source.storage, folder, run, earlier)
    hold.check()
    print(`objects: ${objects.count} of ${objects.bytes} bytes, ${objects.copied} of them copied now`)
    for (const target of [paths.secretsOf(folder, run), paths.secrets(folder)]) await copySecrets(source.secrets, target)
    const secrets = Object.keys(source.secrets)
    await syncAll(folder)
    const { count, bytes } = objects
    const manifest: Manifest = {
      ...{ format: 1, takenAt: database.takenAt, run, schemas: database.schemas },
      ...{ objects: { count, bytes }, missing, secrets },
    }
    await lock.check()
    const kept = await finishRun(folder, manifest, keep)
    if (earlier.length > 0) await deleteObsoleteObjects(folder, kept)
    return manifest
  } finally {
    await hold.release()
  }
}

async function dumpDatabase({ urls }: BackupSource, folder: string, run: string) {
  const snapshot = await takeSnapshot(urls, EXCLUDED_TABLES)
  try {
    await pipeline(
      snapshot.select('encoding', REFERENCED_NAMES),
      createGzip(LEVEL),
      createWriteStream(paths.names(folder, run), { mode: 0o600 }),
    )
    const tables: Manifest['schemas'][number]['tables'] = []
    for (const table of snapshot.tables) tables.push(await dumpTable(snapshot, table, paths.table(folder, run, table)))
    return {
      takenAt: snapshot.takenAt.toISOString(),
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      schemas: Object.entries(snapshot.migrations).map(([schema, migrations]) => ({
        ...{ schema, migrations },
        tables: tables.filter((table) => table.schema === schema),
        sequences: snapshot.sequences.filter((sequence) => sequence.schema === schema),
      })),
    }
  } finally {
    await snapshot.close()
  }
}

async function dumpTable(snapshot: Snapshot, table: DumpedTable, file: string) {
  const { stream, rows } = snapshot.read(table)
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(stream, hashing, createGzip(LEVEL), createWriteStream(file, { mode: 0o600 }))
  return { ...table, rows: rows(), sha256: hash.digest('hex') }
}

async function backUpObjects(from: ObjectStorage, folder: string, run: string, earlier: readonly Manifest[]) {
  const target = await openFileStorage({ root: paths.objects(folder), staleAfterMs: 0, disk: unsyncedDisk })
  const referenced = readReferencedObjects(paths.names(folder, run))
  const sums = { count: 0, bytes: 0, copied: 0 }
  const listReferenced = async function* (): AsyncGenerator<ObjectInfo> {
    for await (const object of from.list('')) if (await referenced.has(object.name)) yield object
  }
  const earlierList = readLists(folder, earlier)
  const copyListed = async function* (): AsyncGenerator<BackedObject> {
    for await (const object of copyMissing(withEarlier(listReferenced(), earlierList), from, target, sums)) {
      sums.count++
      sums.bytes += object.bytes
      yield object
    }
  }
  await writeLines(paths.list(folder, run), copyListed())
  return { objects: sums, missing: await referenced.end() }
}

/** Yields the objects that backups contain, each once. */
function readLists(folder: string, backups: readonly Manifest[]): AsyncGenerator<BackedObject> {
  return mergeLists(backups.map(({ run }) => readLines<BackedObject>(paths.list(folder, run))))
}

/** Copies missing objects in concurrent batches. The order is preserved. */
async function* copyMissing(
  objects: AsyncIterable<{ object: ObjectInfo; earlier: BackedObject | undefined }>,
  from: ObjectStorage,
  target: ObjectStorage,
  sums: { copied: number },
): AsyncGenerator<BackedObject> {
  let batch: ObjectInfo[] = []
  const copied = async function* () {
    sums.copied += batch.length
    yield* copyObjects(iterate(batch), from, target)
    batch = []
  }
  for await (const { object, earlier } of objects) {
    if (!earlier && batch.push(object) < BATCH) continue
    yield* copied()
    if (earlier) yield earlier
  }
  yield* copied()
}

const BATCH = 256

async function* iterate<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values
}

/** Deletes objects that none of the backups contains. */
async function deleteObsoleteObjects(folder: string, kept: readonly Manifest[]): Promise<void> {
  const storage = await openFileStorage({ root: paths.objects(folder), disk: unsyncedDisk })
  const contained = readLists(folder, kept)
  for await (const { object, earlier } of withEarlier(storage.list(''), contained)) if (!earlier) await storage.delete(object.name)
}

async function copySecrets(secrets: Readonly<Record<string, string>>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [name, file] of Object.entries(secrets)) {
    const target = join(folder, name)
    await rm(target, { force: true })
    await copyFile(file, target)
    await chmod(target, 0o600)
  }
}
