import { type Db, findOpenFailover, settleFailover } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import type { ReconcileResult, ReconcileTimes } from './reconcile.ts'

interface AfterFailoverOptions {
  db: Db
  /** Functions that check some stale jobs, one for each kind of jobs. */
  rounds: readonly ((times: ReconcileTimes, signal: AbortSignal) => Promise<ReconcileResult>)[]
  resultSeconds: number
  log: Logger
}

const ZERO_COUNTS = { checked: 0, resent: 0, running: 0, reports_repeated: 0, ended: 0 }

/**
 * Creates the check for lost transactions. After a database failover, it immediately checks all active
 * jobs that have not reported since then. It resends jobs that encoding does not know, and requests
 * the results of jobs that have ended. If encoding is unavailable, the next call continues.
 */
export function createAfterFailover({ db, rounds, resultSeconds, log }: AfterFailoverOptions): (signal: AbortSignal) => Promise<void> {
  let total = { ...ZERO_COUNTS }
  // A round that is interrupted has claimed jobs without checking them. They count as checked since
  // the failover, but not since the interruption.
  let interruptTime = Number.NEGATIVE_INFINITY
  return async (signal) => {
    const failover = await findOpenFailover(db.query)
    if (!failover) return
    const startTime = Math.max(performance.now() - failover.seconds * 1_000, interruptTime)
    for (const round of rounds) {
      for (let hasMore = true; hasMore; ) {
        const staleSeconds = (performance.now() - startTime) / 1_000
        const { isEncodingUnavailable, ...counts } = await round({ staleSeconds, resultSeconds }, signal)
        for (const key of ['checked', 'resent', 'running', 'reports_repeated', 'ended'] as const) total[key] += counts[key]
        if (isEncodingUnavailable) {
          interruptTime = performance.now()
          return
        }
        hasMore = counts.checked > 0
      }
    }
    await settleFailover(db.query, failover)
    log.warn(total, 'database failover: active jobs checked with encoding')
    total = { ...ZERO_COUNTS }
  }
}
