import type { Logger, Metrics } from '@vitascope/telemetry'
import type { Db } from './db.ts'

/** A table whose old rows are deleted. */
export interface RetainedTable {
  /** Value of the metric label `table`. */
  table: string
  /** Deletes at most `limit` rows in one short transaction. Returns the number of deleted rows. */
  remove(limit: number, signal: AbortSignal): Promise<number>
  /** Size of the first batch; 2,000 rows by default. */
  limit?: number
}

export interface BatchOptions {
  /** Size of the first batch; 2,000 rows by default. */
  limit?: number
  /** Milliseconds after which no batch starts; 60,000 by default. */
  budgetMs?: number
  signal: AbortSignal
}

const DEFAULT_LIMIT = 2_000
const DEFAULT_BUDGET_MS = 60_000
/** A batch that takes longer is followed by one of half the size. */
const SLOW_BATCH_MS = 250
const MIN_LIMIT = 50

/**
 * Deletes rows in batches until none is left or the budget is spent. Returns the number of deleted
 * rows, and whether none is left: a batch with fewer rows than its limit is the last.
 */
export async function deleteInBatches(
  remove: RetainedTable['remove'],
  { limit = DEFAULT_LIMIT, budgetMs = DEFAULT_BUDGET_MS, signal }: BatchOptions,
): Promise<{ removed: number; isComplete: boolean }> {
  const end = performance.now() + budgetMs
  let removed = 0
  for (let size = limit; ; ) {
    signal.throwIfAborted()
    const start = performance.now()
    const count = await remove(size, signal)
    removed += count
    if (count < size) return { removed, isComplete: true }
    if (performance.now() >= end) return { removed, isComplete: false }
    if (performance.now() - start > SLOW_BATCH_MS) size = Math.min(size, Math.max(MIN_LIMIT, Math.floor(size / 2)))
  }
}

export interface RetentionOptions {
  tables: readonly RetainedTable[]
  metrics: Metrics
  log: Logger
  /** Time budget in ms of each table in each round; 60,000 by default. */
  budgetMs?: number
}

/**
 * Returns a function that runs one round of retention over the tables, one after another. A table
 * that fails or exceeds its budget does not block the others. The metric
 * `vitascope_retention_overdue_seconds` is then the time since the last round that completed the
 * table. It is 0 after a round that completes it.
 */
export function createRetention({ tables, metrics, log, budgetMs }: RetentionOptions): (signal: AbortSignal) => Promise<void> {
  const states = new Map(tables.map(({ table }) => [table, { completeMs: performance.now(), isOverdue: false }]))
  const overdueSeconds = ({ completeMs, isOverdue }: { completeMs: number; isOverdue: boolean }) =>
    isOverdue ? (performance.now() - completeMs) / 1_000 : 0
  metrics.gauge(
    'vitascope_retention_overdue_seconds',
    'Seconds since the last run that removed all old rows of the table. 0 if the latest run did',
    ['table'],
    (gauge) => {
      for (const [table, state] of states) gauge.set({ table }, overdueSeconds(state))
    },
  )
  return async (signal) => {
    for (const { table, remove, limit } of tables) {
      const state = states.get(table) ?? { completeMs: 0, isOverdue: false }
      try {
        const { removed, isComplete } = await deleteInBatches(remove, { ...(limit && { limit }), ...(budgetMs && { budgetMs }), signal })
        state.isOverdue = !isComplete
        if (isComplete) state.completeMs = performance.now()
        else log.warn({ table, removed, overdue_seconds: overdueSeconds(state) }, 'expired rows remain; continuing in the next round')
      } catch (error) {
        if (signal.aborted) return
        state.isOverdue = true
        log.warn({ err: error, table, overdue_seconds: overdueSeconds(state) }, 'removing expired rows failed; retrying in the next round')
      }
    }
  }
}

/**
 * Returns the common tables. Stored responses are deleted after 24 hours, given-up messages after
 * 30 days.
 */
export function commonRetainedTables(db: Db): RetainedTable[] {
  const rows = (statement: string) => async (limit: number) => (await db.query(statement, [limit])).length
  return [
    {
      table: 'idempotency',
      // A key that is used again after it expired is new. The outer condition is evaluated again on
      // the locked row.
      remove: rows(
        `delete from idempotency where create_time < now() - interval '24 hours' and key in
           (select key from idempotency where create_time < now() - interval '24 hours' order by create_time limit $1) returning 1`,
      ),
    },
    {
      table: 'outbox',
      remove: rows(
        `delete from outbox where outbox_id in (select outbox_id from outbox where dead_time < now() - interval '30 days' limit $1) returning 1`,
      ),
    },
  ]
}
