import type { Db } from '@vitascope/postgres'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { dayOf } from '../view/contribution.ts'
import { reconcile } from './reconcile.ts'

const MOST_LOGGED = 20

/** Compares counts with events once after each midnight (UTC) that this process sees; any difference is an error in the log. */
export function createNightly({ db, log, metrics, now = Date.now }: { db: Db; log: Logger; metrics: Metrics; now?: () => number }) {
  const found = metrics.gauge(
    'vitascope_analytics_differences',
    'Counts that were not what the events say, in the last comparison; must be 0',
  )
  let last = dayOf(now())
  return async (signal: AbortSignal) => {
    const today = dayOf(now())
    if (today === last) return
    last = today
    const { differences, ...what } = await reconcile(db, signal)
    found.set(differences.length)
    if (differences.length === 0) log.info(what, 'all counts are what the events say')
    else
      log.error(
        { ...what, count: differences.length, differences: differences.slice(0, MOST_LOGGED) },
        'counts are not what the events say',
      )
  }
}
