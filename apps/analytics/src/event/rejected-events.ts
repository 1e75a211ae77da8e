import type { Metrics } from '@vitascope/telemetry'

/** Counts rejected events by reason. */
export type CountRejected = (reason: string, events: number) => void

export function countRejected(metrics: Metrics): CountRejected {
  const counter = metrics.counter('vitascope_analytics_rejected_events_total', 'Rejected events, by reason', ['reason'])
  return (reason, events) => counter.inc({ reason }, events)
}
