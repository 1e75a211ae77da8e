import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AcceptEventsRequest, AcceptEventsResponse, EventServiceService } from '@vitascope/proto/analytics/v1/event'
import type { Metrics } from '@vitascope/telemetry'

/** Sends player events to analytics. Concurrent requests are batched into one call. */
export interface EventSender {
  /**
   * Resolves when the events are durable or rejected. Throws `unavailable` when none of them was
   * stored.
   */
  send(request: AcceptEventsRequest, requestId: string): Promise<AcceptEventsResponse>
  /** Counts events that were rejected because they are malformed. Analytics never receives them. */
  countMalformed(events: number): void
}

interface Waiting {
  request: AcceptEventsRequest
  requestId: string
  weight: number
  resolve(response: AcceptEventsResponse): void
  reject(error: unknown): void
}

/** Concurrent calls. While they wait for the database, the next batch grows. */
const MAX_CALLS = 3
const MAX_REQUESTS = 1_000
/**
 * Maximum weight of one call, which keeps its message below 4 MiB: a unit of weight is at most 100
 * bytes. An interval weighs one, an event without texts seven. Texts weigh one per 32 UTF-16 units,
 * which are at most 96 bytes.
 */
const MAX_WEIGHT = 40_000
const EVENT_WEIGHT = 7
const TEXT_WEIGHT_SHIFT = 5

/**
 * Creates a sender with group commit: requests that arrive while all calls are in progress join the
 * next one. There is no timer.
 */
export function createEventSender(analytics: Client<typeof EventServiceService>, metrics: Metrics): EventSender {
  const malformed = metrics.counter('vitascope_gateway_malformed_events_total', 'Player events rejected because they are malformed')
  const queue: Waiting[] = []
  let calls = 0

  const takeBatch = (): Waiting[] => {
    let weight = 0
    let count = 0
    for (const next of queue) {
      if (count > 0 && (count >= MAX_REQUESTS || weight + next.weight > MAX_WEIGHT)) break
      weight += next.weight
      count++
    }
    return queue.splice(0, count)
  }
  const sendAlone = async ({ request, requestId, resolve, reject }: Waiting) => {
    try {
      resolve(await analytics.acceptEvents(request, serviceCall('gateway', requestId)))
    } catch (error) {
      reject(error)
    }
  }
  const sendBatch = async (batch: readonly Waiting[]) => {
    const requests = batch.map(({ request }) => request)
    try {
      const { responses } = await analytics.acceptEventBatch({ requests }, serviceCall('gateway', batch[0]?.requestId ?? ''))
      for (const [index, entry] of batch.entries()) entry.resolve(responses[index] ?? { accepted: 0, rejected: [] })
    } catch (error) {
      // One of the requests may be the cause, or the service may not know this rpc yet. Each is
      // sent alone then, because repeating an event has no effect.
      if (isDomainError(error) && error.reason !== 'VIDEO_UNCHECKED') for (const entry of batch) entry.reject(error)
      else await Promise.all(batch.map(sendAlone))
    }
  }
  const sendQueued = async () => {
    while (queue.length > 0) {
      const batch = takeBatch()
      const [first] = batch
      if (batch.length === 1 && first) await sendAlone(first)
      else await sendBatch(batch)
    }
    calls--
  }

  return {
    countMalformed: (events) => malformed.inc(events),
    send: (request, requestId) =>
      new Promise((resolve, reject) => {
        queue.push({ request, requestId, weight: weightOf(request), resolve, reject })
        if (calls >= MAX_CALLS) return
        calls++
        // Requests of the same event-loop turn join the call.
        setImmediate(() => void sendQueued())
      }),
  }
}

/** Uses only lengths, because it runs for tens of thousands of events per second. */
function weightOf({ events, userAgent, clientAddress }: AcceptEventsRequest): number {
  let weight = 1 + ((userAgent.length + clientAddress.length) >> TEXT_WEIGHT_SHIFT)
  for (const { videoId, viewId, language, subtitle, quality, watched, rewatched } of events) {
    const units = videoId.length + viewId.length + language.length + subtitle.length + (quality ? quality.error.length : 0)
    weight += EVENT_WEIGHT + (units >> TEXT_WEIGHT_SHIFT) + watched.length + rewatched.length
  }
  return weight
}
