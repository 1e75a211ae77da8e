import type { Db } from '@vitascope/postgres'
import { findArea, OBJECT_AREAS, type ObjectStorage } from '@vitascope/storage'
import { readPrefix } from './object-prefix.ts'

/** An object, or a folder of objects, without a row. */
export interface Orphan {
  /** Object name, or a folder with a trailing slash. */
  name: string
  objects: number
  bytes: number
  /** Modification time of the newest object. */
  newest: Date
}

/** Counts of a scan. They are complete after the last orphan was yielded. */
export interface ScanSummary {
  objects: number
  bytes: number
  /** Objects whose names this service does not use. They are kept. */
  foreign: number
  /** Orphans that are too recent to report, because their rows may not be written yet. */
  tooRecent: number
}

const NAMES_PER_QUERY = 500

/**
 * Yields the orphans in storage. It lists storage in pages and looks up the rows of five hundred
 * names at once, so memory is bounded. The row of a lease prefix or of a tus upload is written
 * before its objects, so an object without a row at lookup is an orphan. The row of a form that was
 * posted to an object store is written after its object. So objects that changed within `graceMs`
 * are skipped.
 */
export async function* findOrphans(
  { db, storage, graceMs }: { db: Db; storage: ObjectStorage; graceMs: number },
  scanned: ScanSummary,
  signal: AbortSignal,
): AsyncGenerator<Orphan> {
  let batch: Orphan[] = []
  for (const area of OBJECT_AREAS) {
    for await (const { name, bytes, modified } of storage.list(area, signal)) {
      scanned.objects++
      scanned.bytes += bytes
      const owner = readOwner(name)
      if (owner === undefined) {
        scanned.foreign++
        continue
      }
      const last = batch.at(-1)
      if (last?.name === owner) {
        last.objects++
        last.bytes += bytes
        if (modified > last.newest) last.newest = modified
        continue
      }
      if (batch.length === NAMES_PER_QUERY) {
        yield* filterOrphans(db, batch, graceMs, scanned)
        batch = []
      }
      batch.push({ name: owner, objects: 1, bytes, newest: modified })
    }
  }
  yield* filterOrphans(db, batch, graceMs, scanned)
}

/**
 * Returns the object or the folder that the row of an object describes, as in `Orphan.name`.
 * Returns undefined for a name that this service does not use.
 */
function readOwner(name: string): string | undefined {
  const folders = name.split('/')
  const area = findArea(name)
  if (area === 'uploads') return name
  if (area === 'tus') return UUID.test(folders[1] ?? '') && folders.length > 2 ? `tus/${folders[1]}/` : undefined
  const prefix = folders.slice(0, 3).join('/')
  return folders.length > 3 && readPrefix(prefix) ? `${prefix}/` : undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

async function* filterOrphans(db: Db, batch: readonly Orphan[], graceMs: number, scanned: ScanSummary): AsyncGenerator<Orphan> {
  if (batch.length === 0) return
  const names = batch.map(({ name }) => name)
  // Three queries with one index each. A view that joins the tables could use none.
  const rows = await db.query<{ name: string }>(
    `select prefix || '/' as name from object_prefix where prefix = any($1)
     union all select object from upload where object = any($2)
     union all select 'tus/' || upload_id || '/' from tus_upload where upload_id = any($3)`,
    [
      names.map((name) => name.replace(/\/$/, '')),
      names.filter((name) => findArea(name) === 'uploads'),
      names.flatMap((name) => /^tus\/(.*)\/$/.exec(name)?.[1] ?? []),
    ],
  )
  const recorded = new Set(rows.map(({ name }) => name))
  for (const orphan of batch) {
    if (recorded.has(orphan.name)) continue
    if (Date.now() - orphan.newest.getTime() < graceMs) scanned.tooRecent++
    else yield orphan
  }
}
