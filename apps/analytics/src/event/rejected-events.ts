import type { Metrics } from '@vitascope/telemetry'

/** Counts rejected events by reason. */
export type CountRejected = (reason: string, events: number) => void

export function countRejected(metrics: Metrics): CountRejected {
  const counter = metrics.counter('vitascope_analytics_rejected_events_total', 'Events that do not count, by the reason', ['reason'])
  return (reason, events) => counter.inc({ reason }, events)
}
