import type { FiredRule, RejectionCode } from '@vitascope/playback-policy'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { LRUCache } from 'lru-cache'

/** A viewer that a rule would deny is logged at most once per rule in this time. */
const LOG_INTERVAL_MS = 60_000
/** Maximum number of remembered pairs of a viewer and a rule. A forgotten pair is logged again within the interval. */
const MAX_REMEMBERED = 10_000

/** Counts and logs requests that rules deny, or would deny. */
export interface RejectionReports {
  /** Counts a request that was denied. */
  count(code: RejectionCode): void
  /** Counts and logs rules with `report_only` that would have denied the request. */
  report(rules: readonly FiredRule[], request: { videoId: string; address: string }): void
}

export function createRejectionReports(log: Logger, metrics: Metrics): RejectionReports {
  const rejections = metrics.counter('vitascope_delivery_rejections_total', 'Requests that a playback policy denied, by code', ['code'])
  const reported = metrics.counter(
    'vitascope_delivery_report_only_rejections_total',
    'Requests that rules with report_only would have denied',
  )
  const logged = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: LOG_INTERVAL_MS })
  return {
    count: (code) => rejections.inc({ code }),
    report(rules, { videoId, address }) {
      for (const { list, index, name } of rules) {
        reported.inc()
        const key = `${videoId} ${list} ${index} ${address}`
        if (logged.has(key)) continue
        logged.set(key, true)
        log.info({ video_id: videoId, list, rule_index: index, rule_name: name, address }, 'rule with report_only would deny a viewer')
      }
    },
  }
}
