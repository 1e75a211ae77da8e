import type { Logger, Metrics } from '@vitascope/telemetry'
import type { ComparisonStore } from './comparison-store.ts'
import type { Reconciliation } from './reconcile.ts'

const MOST_LOGGED = 20

/** Looks whether the comparison of counts with events is due, and makes it; any difference is an error in the log. */
export function createNightly({
  comparisons,
  compare,
  log,
}: {
  comparisons: ComparisonStore
  compare: (signal: AbortSignal) => Promise<Reconciliation>
  log: Logger
}) {
  return async (signal: AbortSignal) => {
    const claim = await comparisons.claim()
    if (!claim) return
    const { differences, ...what } = await compare(signal)
    if (differences.length === 0) log.info(what, 'all counts are what the events say')
    else
      log.error(
        { ...what, count: differences.length, differences: differences.slice(0, MOST_LOGGED) },
        'counts are not what the events say',
      )
    await comparisons.save(claim, differences.length)
  }
}

/** Every replica shows what the last one found, whoever made it; asked of the database at each scrape. */
export function watchComparisons(comparisons: Pick<ComparisonStore, 'last'>, metrics: Metrics): void {
  const show = (name: string, help: string, figureOf: (last: { beganSeconds: number; differences: number }) => number) =>
    metrics.gauge(name, help, [], async (gauge) => {
      // A database that is away has nothing to tell; the scrape shows the rest.
      const last = await comparisons.last().catch(() => undefined)
      if (last) gauge.set(figureOf(last))
      else gauge.remove()
    })
  show(
    'vitascope_analytics_differences',
    'Counts that were not what the events say, in the last comparison, a thousand at most; must be 0',
    ({ differences }) => differences,
  )
  show(
    'vitascope_analytics_last_comparison_seconds',
    'When the last comparison of counts with events began that came to its end, in seconds since 1970; there is one a night',
    ({ beganSeconds }) => beganSeconds,
  )
}
