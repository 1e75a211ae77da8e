import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import { readPrefix } from './object-prefix.ts'

/** What lies in storage, and no row tells of it. */
export interface Orphan {
  /** Of a single object, or with a slash at its end of all that is below it. */
  name: string
  objects: number
  bytes: number
  /** When the last of the objects was put. */
  newest: Date
}

/** What was looked at, for whoever asks after the last orphan. */
export interface Looked {
  objects: number
  bytes: number
  /** Objects whose names are none that this service gives: they are left alone. */
  foreign: number
  /** Orphans that are too young to be told of: their rows may be on their way. */
  young: number
}

/** Below these each name has its row: of a lease, of an upload, or of an upload in parts. */
const AREAS = ['media', 'slides', 'source', 'tus', 'uploads', 'work']
const AT_ONCE = 500

/**
 * Goes through storage by pages, and asks for the rows of five hundred names at once: memory stays bounded. An object is put after its row is
 * written, so what has no row when it is looked for is an orphan; those that changed within `graceMs` are passed over all the same.
 */
export async function* findOrphans(
  { db, storage, graceMs }: { db: Db; storage: ObjectStorage; graceMs: number },
  looked: Looked,
  signal: AbortSignal,
): AsyncGenerator<Orphan> {
  let batch: Orphan[] = []
  for (const area of AREAS) {
    for await (const { name, bytes, modified } of storage.list(area, signal)) {
      looked.objects++
      looked.bytes += bytes
      const owner = ownerOf(name)
      if (owner === undefined) {
        looked.foreign++
        continue
      }
      const last = batch.at(-1)
      if (last?.name === owner) {
        last.objects++
        last.bytes += bytes
        if (modified > last.newest) last.newest = modified
        continue
      }
      if (batch.length === AT_ONCE) {
        yield* withoutRow(db, batch, graceMs, looked)
        batch = []
      }
      batch.push({ name: owner, objects: 1, bytes, newest: modified })
    }
  }
  yield* withoutRow(db, batch, graceMs, looked)
}

/** What the row of an object is found by. */
function ownerOf(name: string): string | undefined {
  const parts = name.split('/')
  if (parts[0] === 'uploads') return name
  if (parts[0] === 'tus') return UUID.test(parts[1] ?? '') && parts.length > 2 ? `tus/${parts[1]}/` : undefined
  const prefix = parts.slice(0, 3).join('/')
  return parts.length > 3 && readPrefix(prefix) ? `${prefix}/` : undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

async function* withoutRow(db: Db, batch: readonly Orphan[], graceMs: number, looked: Looked): AsyncGenerator<Orphan> {
  if (batch.length === 0) return
  const names = batch.map(({ name }) => name)
  // One index each: over the view that joins them there would be none.
  const rows = await db.query<{ name: string }>(
    `select prefix || '/' as name from object_prefix where prefix = any($1)
     union all select object from upload where object = any($2)
     union all select 'tus/' || upload_id || '/' from tus_upload where upload_id = any($3)`,
    [
      names.map((name) => name.replace(/\/$/, '')),
      names.filter((name) => name.startsWith('uploads/')),
      names.flatMap((name) => /^tus\/(.*)\/$/.exec(name)?.[1] ?? []),
    ],
  )
  const known = new Set(rows.map(({ name }) => name))
  for (const orphan of batch) {
    if (known.has(orphan.name)) continue
    if (Date.now() - orphan.newest.getTime() < graceMs) looked.young++
    else yield orphan
  }
}
