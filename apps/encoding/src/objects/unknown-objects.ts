import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import { dropUnknownPrefixes } from './object-prefix.ts'

/** Below these, each job, media or presentation has a folder, and in it each lease one. */
const AREAS = ['source', 'work', 'media', 'slides']
const AT_ONCE = 1_000

/**
 * Gives up what lies in storage below the prefix of a lease that is not written down here; it goes after a while, sets only if they do not
 * play. Lists folders, never objects: for a million media that is a million small folders. Storage is looked at before the rows, and a prefix is
 * written down before its first object: what is not found there is of a time that was lost. Answers the prefixes.
 */
export async function dropUnknownObjects(
  tools: { db: Db; storage: ObjectStorage; graceMs: number },
  signal: AbortSignal,
): Promise<string[]> {
  const { db, storage, graceMs } = tools
  const dropped: string[] = []
  let found: string[] = []
  const settle = async () => {
    dropped.push(...(await dropUnknownPrefixes(db.query, found, graceMs)))
    found = []
  }
  for (const area of AREAS) {
    for await (const owner of storage.folders(area, signal)) {
      for await (const prefix of storage.folders(owner, signal)) found.push(prefix)
      if (found.length >= AT_ONCE) await settle()
    }
  }
  await settle()
  return dropped
}

/** Published sets that should be in storage and are not: they were removed in a time that was lost. Answers their prefixes. */
export async function findMissingSets({ db, storage }: { db: Db; storage: ObjectStorage }, signal: AbortSignal): Promise<string[]> {
  const missing: string[] = []
  for (let last = ''; ; ) {
    const rows = await db.query<{ prefix: string }>(
      `select prefix from object_prefix join job using (job_id)
       where drop_time is null and state = 'ok' and not is_dropped and prefix > $1 and prefix ~ '^(media|slides)/' order by prefix limit $2`,
      [last, AT_ONCE],
    )
    for (const { prefix } of rows) if (!(await hasObjects(storage, prefix, signal))) missing.push(prefix)
    last = rows.at(-1)?.prefix ?? last
    if (rows.length < AT_ONCE) return missing
  }
}

async function hasObjects(storage: ObjectStorage, prefix: string, signal: AbortSignal): Promise<boolean> {
  for await (const _ of storage.list(prefix, signal)) return true
  return false
}
