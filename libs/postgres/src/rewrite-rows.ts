import type { Db, Query } from './db.ts'

/** Options for rewriting the rows of a table. */
export interface RowRewrite<Row> {
  /**
   * SQL that selects at most `$2` rows with a key above `$1`, ordered by the key, for update. An
   * empty result ends the rewrite.
   */
  select: string
  /** Returns the key of a row as text. */
  getKey(row: Row): string
  /** A value below the first key. */
  start: string
  /** Further parameters of `select`, from `$3` on. */
  parameters?: readonly unknown[]
  /** Updates one row. Returns false if the row cannot be rewritten. It then stays unchanged. */
  rewrite(query: Query, row: Row): Promise<boolean>
}

const BATCH_ROWS = 200

/**
 * Rewrites rows in transactions of 200, so that no statement or lock lasts long. After an
 * interruption, complete batches are rewritten. If `select` excludes rewritten rows, the next run
 * continues with the others.
 */
export async function rewriteRows<Row extends object>(
  db: Db,
  { select, getKey, start, parameters = [], rewrite }: RowRewrite<Row>,
): Promise<{ rewritten: number; failed: number }> {
  const counts = { rewritten: 0, failed: 0 }
  let nextKey: string | undefined = start
  while (nextKey !== undefined) {
    const startKey: string = nextKey
    // The transaction can run more than once, so it counts only its last run.
    const batch = await db.transaction(async ({ query }) => {
      const rows = await query<Row>(select, [startKey, BATCH_ROWS, ...parameters])
      let rewritten = 0
      for (const row of rows) if (await rewrite(query, row)) rewritten++
      const last = rows.at(-1)
      return { rewritten, failed: rows.length - rewritten, lastKey: last && getKey(last) }
    })
    counts.rewritten += batch.rewritten
    counts.failed += batch.failed
    nextKey = batch.lastKey
  }
  return counts
}
