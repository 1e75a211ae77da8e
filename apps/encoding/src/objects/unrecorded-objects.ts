import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import { dropUnrecordedPrefixes } from './object-prefix.ts'

/**
 * Top-level folders. Each has one folder per job, media or presentation, which has one folder per
 * lease.
 */
const AREAS = ['source', 'work', 'media', 'slides']
const PREFIXES_PER_QUERY = 1_000

/**
 * Schedules the deletion of objects below lease prefixes that have no row. They are deleted after
 * `graceMs`, and sets only if they are not in use. It lists folders and no objects, which takes one
 * request per media. The database has lost the row of such a prefix, because storage is listed
 * before the rows are read, and a row is inserted before the first object. Returns the prefixes.
 */
export async function dropUnrecordedObjects(
  tools: { db: Db; storage: ObjectStorage; graceMs: number },
  signal: AbortSignal,
): Promise<string[]> {
  const { db, storage, graceMs } = tools
  const dropped: string[] = []
  let prefixes: string[] = []
  const dropBatch = async () => {
    dropped.push(...(await dropUnrecordedPrefixes(db.query, prefixes, graceMs)))
    prefixes = []
  }
  for (const area of AREAS) {
    for await (const owner of storage.folders(area, signal)) {
      for await (const prefix of storage.folders(owner, signal)) prefixes.push(prefix)
      if (prefixes.length >= PREFIXES_PER_QUERY) await dropBatch()
    }
  }
  await dropBatch()
  return dropped
}

/**
 * Returns the prefixes of published sets that are missing in storage. They were deleted by a
 * transaction that the database has lost.
 */
export async function findMissingSets({ db, storage }: { db: Db; storage: ObjectStorage }, signal: AbortSignal): Promise<string[]> {
  const missing: string[] = []
  for (let last = ''; ; ) {
    const rows = await db.query<{ prefix: string }>(
      `select prefix from object_prefix join job using (job_id)
       where drop_time is null and state = 'ok' and not is_dropped and prefix > $1 and prefix ~ '^(media|slides)/' order by prefix limit $2`,
      [last, PREFIXES_PER_QUERY],
    )
    for (const { prefix } of rows) if (!(await hasObjects(storage, prefix, signal))) missing.push(prefix)
    last = rows.at(-1)?.prefix ?? last
    if (rows.length < PREFIXES_PER_QUERY) return missing
  }
}

async function hasObjects(storage: ObjectStorage, prefix: string, signal: AbortSignal): Promise<boolean> {
  for await (const _ of storage.list(prefix, signal)) return true
  return false
}
