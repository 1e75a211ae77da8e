import type { Db, Query } from './db.ts'

/** Options for rewriting the rows of a table. */
export interface RowRewrite<Row> {
  /**
   * Selects at most `$2` rows with a key above `$1`, ordered by the key, for update. An empty result ends the
   * rewrite.
   */
  select: string
  /** Returns the key of a row as text. */
  keyOf(row: Row): string
  /** A value below the first key. */
  start: string
  /** Further parameters of `select`, from `$3` on. */
  parameters?: readonly unknown[]
  /** Updates one row. Returns false if it cannot be rewritten and stays as it is. */
  rewrite(query: Query, row: Row): Promise<boolean>
}

const BATCH_ROWS = 200

/**
 * Rewrites rows in transactions of 200, so that no statement or lock lasts long. After an interruption whole batches
 * are done; if `select` excludes rewritten rows, the next run does the rest.
 */
export async function rewriteRows<Row extends object>(
  db: Db,
  { select, keyOf, start, parameters = [], rewrite }: RowRewrite<Row>,
): Promise<{ rewritten: number; failed: number }> {
  const counts = { rewritten: 0, failed: 0 }
  let after: string | undefined = start
  while (after !== undefined) {
    const above: string = after
    after = await db.transaction(async ({ query }) => {
      const rows = await query<Row>(select, [above, BATCH_ROWS, ...parameters])
      for (const row of rows) counts[(await rewrite(query, row)) ? 'rewritten' : 'failed']++
      const last = rows.at(-1)
      return last && keyOf(last)
    })
  }
  return counts
}
