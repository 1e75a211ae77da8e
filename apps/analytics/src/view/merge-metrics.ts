import type { Db } from '@vitascope/postgres'
import type { Metrics } from '@vitascope/telemetry'

/**
 * Registers the merge metrics and returns a function that counts merged events. The lag is read
 * from the database at each scrape.
 */
export function registerMergeMetrics(db: Db, metrics: Metrics): (events: number) => void {
  const merged = metrics.counter('vitascope_analytics_merged_events_total', 'Events that this process merged into the counts')
  metrics.gauge('vitascope_analytics_merge_lag_seconds', 'Age of the oldest events that no report shows yet', [], async (gauge) => {
    try {
      const [row] = await db.query<{ lag: number | null }>(
        'select extract(epoch from now() - min(create_time))::float8 as lag from pending_batch',
      )
      gauge.set(row?.lag ?? 0)
    } catch {
      // The gauge is removed while the database is unavailable.
      gauge.remove()
    }
  })
  return (events) => merged.inc(events)
}
