import { createBatcher } from '@vitascope/concurrency'
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

interface QueuedRequest {
  request: AcceptEventsRequest
  requestId: string
}

type Outcome = { response: AcceptEventsResponse } | { error: unknown }

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

/** Creates a sender with group commit. */
export function createEventSender(analytics: Client<typeof EventServiceService>, metrics: Metrics): EventSender {
  const malformed = metrics.counter('vitascope_gateway_malformed_events_total', 'Player events rejected because they are malformed')
  const sendAlone = ({ request, requestId }: QueuedRequest) => analytics.acceptEvents(request, serviceCall('gateway', requestId))
  const sendBatch = async (batch: readonly QueuedRequest[]): Promise<Outcome[]> => {
    const requests = batch.map(({ request }) => request)
    try {
      const { responses } = await analytics.acceptEventBatch({ requests }, serviceCall('gateway', batch[0]?.requestId ?? ''))
      return batch.map((_, index) => ({ response: responses[index] ?? { accepted: 0, rejected: [] } }))
    } catch (error) {
      if (isDomainError(error) && error.reason !== 'VIDEO_UNCHECKED') throw error
      // One of the requests may be the cause, or the service may not know this rpc yet. Each is
      // sent alone then, because repeating an event has no effect.
      return await Promise.all(batch.map((event) => awaitOutcome(sendAlone(event))))
    }
  }
  const batcher = createBatcher<QueuedRequest, Outcome>({
    concurrency: MAX_CALLS,
    maxItems: MAX_REQUESTS,
    maxWeight: MAX_WEIGHT,
    getWeight: ({ request }) => computeWeight(request),
    async write(batch) {
      const [first] = batch
      return batch.length === 1 && first ? [{ response: await sendAlone(first) }] : await sendBatch(batch)
    },
  })

  return {
    countMalformed: (events) => malformed.inc(events),
    async send(request, requestId) {
      const outcome = await batcher.add({ request, requestId })
      if ('error' in outcome) throw outcome.error
      return outcome.response
    },
  }
}

async function awaitOutcome(call: Promise<AcceptEventsResponse>): Promise<Outcome> {
  try {
    return { response: await call }
  } catch (error) {
    return { error }
  }
}

/** Returns the weight of a request. Only lengths count, because this runs for tens of thousands of events per second. */
function computeWeight({ events, userAgent, clientAddress }: AcceptEventsRequest): number {
  let weight = 1 + ((userAgent.length + clientAddress.length) >> TEXT_WEIGHT_SHIFT)
  for (const { videoId, viewId, language, subtitle, referrer, quality, watched, rewatched } of events) {
    const units =
      videoId.length + viewId.length + language.length + subtitle.length + referrer.length + (quality ? quality.error.length : 0)
    weight += EVENT_WEIGHT + (units >> TEXT_WEIGHT_SHIFT) + watched.length + rewatched.length
  }
  return weight
}
