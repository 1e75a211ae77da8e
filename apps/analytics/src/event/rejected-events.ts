import type { Metrics } from '@vitascope/telemetry'

/** Adds a number of rejected events to the metric of their reason. */
export type CountRejected = (reason: string, events: number) => void

export function createRejectedCounter(metrics: Metrics): CountRejected {
  const counter = metrics.counter('vitascope_analytics_rejected_events_total', 'Rejected events, by reason', ['reason'])
  return (reason, events) => counter.inc({ reason }, events)
}
