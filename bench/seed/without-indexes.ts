import type { Db } from '@vitascope/postgres'

/** Runs a load without the indexes that hold no rule, and makes them again after it: much faster than keeping them up row by row. */
export async function withoutIndexes(db: Db, load: () => Promise<void>, report: (line: string) => void): Promise<void> {
  // Triggers look rows up by their primary keys, and by these.
  const kept = ['video_media', 'caption_media', 'spoken_change_media', 'title_word_trigrams']
  const indexes = await db.query<{ name: string; definition: string }>(
    `select quote_ident(c.relname) as name, pg_get_indexdef(c.oid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace and not i.indisunique and c.relname <> all ($1)`,
    [kept],
  )
  for (const { name } of indexes) await db.query(`drop index ${name}`)
  await load()
  for (const { name, definition } of indexes) {
    const start = performance.now()
    await db.query(definition)
    report(`index ${name} in ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  }
}
