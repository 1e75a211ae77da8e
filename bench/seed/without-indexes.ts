import type { Db } from '@vitascope/postgres'

/**
 * Runs a load without the non-unique indexes and creates them again afterwards. That is much faster
 * than updating them for each row.
 */
export async function withoutIndexes(db: Db, load: () => Promise<void>, report: (line: string) => void): Promise<void> {
  // Triggers of the load read rows by primary key and by these indexes.
  const requiredIndexes = ['video_media', 'caption_media', 'caption_change_media', 'title_word_trigrams']
  const indexes = await db.query<{ name: string; definition: string }>(
    `select quote_ident(c.relname) as name, pg_get_indexdef(c.oid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace and not i.indisunique and c.relname <> all ($1)`,
    [requiredIndexes],
  )
  for (const { name } of indexes) await db.query(`drop index ${name}`)
  await load()
  for (const { name, definition } of indexes) {
    const start = performance.now()
    await db.query(definition)
    report(`index ${name} in ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  }
}
