import { type Db, findOpenFailover, settleFailover } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import type { ReconcileResult, ReconcileTimes } from './reconcile.ts'

interface AfterFailoverOptions {
  db: Db
  /** Each round checks some jobs of its kind (media or presentations) that have not reported for `staleSeconds`. */
  rounds: readonly ((times: ReconcileTimes, signal: AbortSignal) => Promise<ReconcileResult>)[]
  resultSeconds: number
  log: Logger
}

const ZERO_COUNTS = { checked: 0, sent_again: 0, running: 0, reports_repeated: 0, ended: 0 }

/**
 * Creates the check for lost transactions. After a database failover, it immediately checks all active
 * jobs that have not reported since then. It resends jobs that encoding does not know, and requests
 * the results of jobs that have ended. If encoding is unavailable, the next call continues.
 */
export function createAfterFailover({ db, rounds, resultSeconds, log }: AfterFailoverOptions): (signal: AbortSignal) => Promise<void> {
  let total = { ...ZERO_COUNTS }
  return async (signal) => {
    const open = await findOpenFailover(db.query)
    if (!open) return
    const failoverTime = performance.now() - open.seconds * 1_000
    for (const round of rounds) {
      for (let isMore = true; isMore; ) {
        const staleSeconds = (performance.now() - failoverTime) / 1_000
        const { isEncodingUnavailable, ...done } = await round({ staleSeconds, resultSeconds }, signal)
        for (const key of ['checked', 'sent_again', 'running', 'reports_repeated', 'ended'] as const) total[key] += done[key]
        if (isEncodingUnavailable) return
        isMore = done.checked > 0
      }
    }
    await settleFailover(db.query, open)
    log.warn(total, 'database failover: active jobs checked with encoding')
    total = { ...ZERO_COUNTS }
  }
}
