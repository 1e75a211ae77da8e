import { type Db, openFailover, settleFailover } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import type { ReconcileResult, ReconcileTimes } from './reconcile.ts'

interface Tools {
  db: Db
  /** Each round checks some jobs of its kind (media or presentations) that have not reported for `staleSeconds`. */
  rounds: readonly ((times: ReconcileTimes, signal: AbortSignal) => Promise<ReconcileResult>)[]
  resultSeconds: number
  log: Logger
}

const nothing = { checked: 0, sent_again: 0, running: 0, reports_repeated: 0, ended: 0 }

/**
 * After a failover that may have lost the last transactions, checks at once all active jobs without
 * a report since. Jobs that encoding does not know are sent again. Jobs that have ended are
 * reported again. If encoding is unavailable, the next call continues.
 */
export function createAfterFailover({ db, rounds, resultSeconds, log }: Tools): (signal: AbortSignal) => Promise<void> {
  let total = { ...nothing }
  return async (signal) => {
    const open = await openFailover(db.query)
    if (!open) return
    const noticed = performance.now() - open.seconds * 1_000
    for (const round of rounds) {
      for (let isMore = true; isMore; ) {
        const staleSeconds = (performance.now() - noticed) / 1_000
        const { isEncodingUnavailable, ...done } = await round({ staleSeconds, resultSeconds }, signal)
        for (const key of ['checked', 'sent_again', 'running', 'reports_repeated', 'ended'] as const) total[key] += done[key]
        if (isEncodingUnavailable) return
        isMore = done.checked > 0
      }
    }
    await settleFailover(db.query, open)
    log.warn(total, 'database failover: active jobs checked with encoding')
    total = { ...nothing }
  }
}
