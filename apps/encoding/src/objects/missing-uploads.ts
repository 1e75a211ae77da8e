import type { Db } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'

const ROWS_PER_QUERY = 500

/** Yields the objects of complete uploads and of upload parts that are missing in storage. */
export async function* findMissingUploads(
  { db, storage }: { db: Db; storage: ObjectStorage },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const sources = [
    'select object as name from upload where bytes is not null and drop_time is null and object > $1 order by object limit $2',
    `select object as name from tus_part join tus_upload using (upload_id) where drop_time is null and object > $1 order by object limit $2`,
  ]
  for (const source of sources) {
    for (let last = ''; ; ) {
      const rows = await db.query<{ name: string }>(source, [last, ROWS_PER_QUERY])
      for (const { name } of rows) if (!(await storage.stat(name, signal))) yield name
      last = rows.at(-1)?.name ?? last
      if (rows.length < ROWS_PER_QUERY) break
    }
  }
}
