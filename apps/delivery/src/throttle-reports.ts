import { randomUUID } from 'node:crypto'
import { type Client, serviceCall } from '@vitascope/grpc'
import { everyAfterDelay } from '@vitascope/process'
import type { EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import type { EventType } from '@vitascope/proto/event-types'
import type { Logger } from '@vitascope/telemetry'
import { parseDeliveryPath } from './delivery-path.ts'
import type { PolicyCache } from './policy-cache.ts'

const REPORT_EVERY_MS = 60_000
/** A video has at most one event in this time, from all replicas together. */
const EVENT_EVERY_MS = 600_000
/** Videos of one report. Requests for others are not reported. */
const MAX_VIDEOS = 1_000

export interface ThrottleReports {
  /** Notes a request that was rejected with 429. */
  note(url: string): void
  close(): void
}

export interface ThrottleTools {
  policies: Pick<PolicyCache, 'get'>
  events: Pick<Client<typeof EventServiceService>, 'addEvent'>
  log: Logger
  reportEveryMs?: number
}

/** Informs the webhooks of an organisation that requests for its videos were rejected because of limits. */
export function createThrottleReports({ policies, events, log, reportEveryMs = REPORT_EVERY_MS }: ThrottleTools): ThrottleReports {
  let rejected = new Map<string, number>()
  const report = async (signal: AbortSignal): Promise<void> => {
    const counts = rejected
    rejected = new Map()
    for (const [videoId, count] of counts) {
      const policy = await policies.get({ kind: 'video', id: videoId })
      // The path of a request can name any video.
      if (!policy) continue
      const { organisationId } = policy
      const event = {
        eventId: `delivery-throttled-${videoId}-${Math.floor(Date.now() / EVENT_EVERY_MS)}`,
        type: 'delivery.throttled' satisfies EventType,
        organisationId,
        objectKey: `delivery:${videoId}`,
        dataJson: JSON.stringify({ organisation_id: organisationId, video_id: videoId, rejected_requests: count }),
      }
      await events.addEvent(event, serviceCall('delivery', randomUUID(), signal))
    }
  }
  const stop = new AbortController()
  // It ends when it is stopped, and logs failures.
  void everyAfterDelay(report, reportEveryMs, log, stop.signal)
  return {
    note(url) {
      const path = parseDeliveryPath(url.split('?', 1)[0] ?? '')
      if (path?.kind !== 'video') return
      const count = rejected.get(path.id)
      if (count !== undefined || rejected.size < MAX_VIDEOS) rejected.set(path.id, (count ?? 0) + 1)
    },
    close: () => stop.abort(),
  }
}
