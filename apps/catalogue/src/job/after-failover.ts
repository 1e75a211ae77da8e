import { type Db, openFailover, settleFailover } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import type { Reconciled, ReconcileTimes } from './reconcile.ts'

interface Tools {
  db: Db
  /** Each asks after some jobs of its kind, those of media or of presentations, that were quiet for so long. */
  rounds: readonly ((times: ReconcileTimes, signal: AbortSignal) => Promise<Reconciled>)[]
  resultSeconds: number
  log: Logger
}

const nothing = { asked: 0, handed_over: 0, under_way: 0, reports_repeated: 0, ended: 0 }

/**
 * After a failover that may have lost the last transactions, asks at once after every job that stands and was not heard of since: what
 * encoding does not know is handed over, what it has ended is reported again. While encoding is away, the next call goes on.
 */
export function createAfterFailover({ db, rounds, resultSeconds, log }: Tools): (signal: AbortSignal) => Promise<void> {
  let total = { ...nothing }
  return async (signal) => {
    const open = await openFailover(db.query)
    if (!open) return
    const noticed = performance.now() - open.seconds * 1_000
    for (const round of rounds) {
      for (let isMore = true; isMore; ) {
        const quietSeconds = (performance.now() - noticed) / 1_000
        const { away, ...done } = await round({ quietSeconds, resultSeconds }, signal)
        for (const key of ['asked', 'handed_over', 'under_way', 'reports_repeated', 'ended'] as const) total[key] += done[key]
        if (away) return
        isMore = done.asked > 0
      }
    }
    await settleFailover(db.query, open)
    log.warn(total, 'after a failover of the database: the jobs that stand were asked after')
    total = { ...nothing }
  }
}
