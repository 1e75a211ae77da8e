import type { Logger, Metrics } from '@vitascope/telemetry'
import type { ComparisonStore } from './comparison-store.ts'
import type { Reconciliation } from './reconcile.ts'

const MAX_LOGGED = 20

/**
 * Returns a function that runs the comparison of counts with events if it is due. Any difference is
 * logged as an error.
 */
export function createNightlyComparison({
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
    const { differences, ...summary } = await compare(signal)
    if (differences.length === 0) log.info(summary, 'counts match the events')
    else
      log.error({ ...summary, count: differences.length, differences: differences.slice(0, MAX_LOGGED) }, 'counts differ from the events')
    await comparisons.save(claim, differences.length)
  }
}

/**
 * Registers gauges of the last comparison. All replicas report it, because it is read from the
 * database at each scrape.
 */
export function registerComparisonMetrics(comparisons: Pick<ComparisonStore, 'last'>, metrics: Metrics): void {
  const registerGauge = (name: string, help: string, readValue: (last: { startSeconds: number; differences: number }) => number) =>
    metrics.gauge(name, help, [], async (gauge) => {
      // The gauge is removed while the database is unavailable.
      const last = await comparisons.last().catch(() => undefined)
      if (last) gauge.set(readValue(last))
      else gauge.remove()
    })
  registerGauge(
    'vitascope_analytics_count_differences',
    'Counts that differed from the stored events in the last comparison, at most 1,000. It must be 0',
    ({ differences }) => differences,
  )
  registerGauge(
    'vitascope_analytics_last_comparison_timestamp_seconds',
    'Start time of the last complete comparison of counts with events (Unix time). It runs once a night',
    ({ startSeconds }) => startSeconds,
  )
}
