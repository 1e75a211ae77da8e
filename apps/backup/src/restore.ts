import { createHash } from 'node:crypto'
import { countRows, type DumpedTable, isEmptySchema, loadSchema, readRows } from '@vitascope/postgres'
import { type ObjectStorage, openFileStorage } from '@vitascope/storage'
import { BackupError } from './backup-error.ts'
import { type BackedObject, type Manifest, paths } from './backup-folder.ts'
import { copyObjects } from './copy-objects.ts'
import { readCompressed, readLines, textLines } from './json-lines.ts'

/** The target of a restore: schemas with empty tables, and an empty storage. */
export interface RestoreTarget {
  urls: Readonly<Record<string, string>>
  storage: ObjectStorage
}

/** Checksums of objects in the rows, in the order of the list. */
const CHECKSUMS = 'select name, bytes, sha256 from encoding.stored_checksum order by name collate "C"'
/** Maximum number of problems in the list. */
const MAX_PROBLEMS = 100

/** Throws `BackupError` if the target is not empty, because a restore never overwrites data. */
export async function requireEmpty({ urls, storage }: RestoreTarget, where: string): Promise<void> {
  for (const [schema, url] of Object.entries(urls)) {
    if (await isEmptySchema(url, schema)) continue
    throw new BackupError(`the database is not empty (it has tables in the schema ${schema}): restore into ${where} or an empty database`)
  }
  for await (const { name } of storage.list('')) {
    throw new BackupError(`the storage is not empty (it has ${name}): restore into ${where} or an empty bucket`)
  }
}

/**
 * Restores the objects first, each read once and compared with its checksum in the backup. Then it
 * restores the rows, schema by schema.
 */
export async function restore(manifest: Manifest, folder: string, target: RestoreTarget, print: (line: string) => void): Promise<void> {
  requireSameSchemas(manifest, target)
  const from = await openFileStorage({ root: paths.objects(folder) })
  const sums = { count: 0, bytes: 0 }
  const objects = readLines<BackedObject>(paths.list(folder, manifest.run))
  const expected = readLines<BackedObject>(paths.list(folder, manifest.run))
  for await (const { name, bytes, sha256 } of copyObjects(objects, from, target.storage)) {
    const { value } = await expected.next()
    if (value?.name !== name || value.sha256 !== sha256) throw new BackupError(`${name} differs from the backup: its bytes have changed`)
    sums.count++
    sums.bytes += bytes
  }
  if (sums.count !== manifest.objects.count) {
    throw new BackupError(`the backup has ${sums.count} objects instead of ${manifest.objects.count}`)
  }
  print(`objects: ${sums.count} of ${sums.bytes} bytes`)
  for (const dumped of manifest.schemas) {
    await loadSchema(requireUrl(target, dumped.schema), dumped, (table) => readTable(manifest, folder, table))
    print(`${dumped.schema}: ${dumped.tables.reduce((sum, { rows }) => sum + rows, 0)} rows`)
  }
}

/**
 * Compares the rows with the backup's counts, and the objects with the checksums in the rows.
 * Returns the differences.
 */
export async function verify(manifest: Manifest, folder: string, { urls }: Pick<RestoreTarget, 'urls'>): Promise<string[]> {
  const problems: string[] = []
  for (const dumped of manifest.schemas) {
    const counts = await countRows(requireUrl({ urls }, dumped.schema), dumped)
    for (const { table, rows } of dumped.tables) {
      // The restore itself adds a row to this table.
      const expectedRows = table === 'failover' ? rows + 1 : rows
      if (counts.get(table) !== expectedRows)
        problems.push(`${dumped.schema}.${table} has ${counts.get(table)} rows instead of ${expectedRows}`)
    }
  }
  const objects = readLines<BackedObject>(paths.list(folder, manifest.run))
  let object = await objects.next()
  for await (const line of textLines(readRows(requireUrl({ urls }, 'encoding'), CHECKSUMS))) {
    const [name = '', bytes, sha256] = line.split('\t')
    while (!object.done && object.value.name < name) object = await objects.next()
    const backed = !object.done && object.value.name === name ? object.value : undefined
    const problem = findProblem(backed, Number(bytes), sha256 === '\\N' ? undefined : sha256)
    if (problem !== undefined) problems.push(`${name} ${problem}`)
    if (problems.length >= MAX_PROBLEMS) break
  }
  return problems
}

function findProblem(backed: BackedObject | undefined, bytes: number, sha256: string | undefined): string | undefined {
  if (!backed) return 'is referenced by a row, but the backup does not contain it'
  if (backed.bytes !== bytes) return `has ${backed.bytes} bytes instead of ${bytes} as in its row`
  return sha256 !== undefined && sha256 !== backed.sha256 ? 'has another checksum than in its row' : undefined
}

function requireSameSchemas({ schemas }: Manifest, { urls }: RestoreTarget): void {
  const [inBackup, inVersion] = [schemas.map(({ schema }) => schema).sort(), Object.keys(urls).sort()]
  if (`${inBackup}` !== `${inVersion}`) {
    throw new BackupError(
      `the backup is of another version: it has the schemas ${inBackup.join(', ')}, and this version ${inVersion.join(', ')}`,
    )
  }
}

/**
 * Yields the rows of a table. It throws at the end if their checksum differs from the backup, which
 * rolls back the whole schema.
 */
async function* readTable({ run }: Manifest, folder: string, table: DumpedTable & { sha256?: string }): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of readCompressed(paths.table(folder, run, table)) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('hex') !== table.sha256) throw new BackupError(`the rows of ${table.schema}.${table.table} differ from the backup`)
}

function requireUrl({ urls }: Pick<RestoreTarget, 'urls'>, schema: string): string {
  const url = urls[schema]
  if (url === undefined) throw new Error(`no database for ${schema}`)
  return url
}
