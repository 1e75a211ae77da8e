import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AcceptEventsRequest, AcceptEventsResponse, EventServiceService } from '@vitascope/proto/analytics/v1/event'

/** Tells analytics what players sent: what comes from many at once goes in one call. */
export interface EventSender {
  /** Comes back when the events are durable or rejected; refuses as unavailable when none of them counts. */
  send(request: AcceptEventsRequest, requestId: string): Promise<AcceptEventsResponse>
}

interface Waiting {
  request: AcceptEventsRequest
  requestId: string
  weight: number
  resolve(response: AcceptEventsResponse): void
  reject(error: unknown): void
}

/** Calls under way at once: while some are at the database, the next gathers. */
const CALLS = 3
const MOST_REQUESTS = 1_000
/**
 * Of one call, so that its message stays below 4 MiB: nothing takes more than a hundred bytes for each that it weighs. An interval weighs one, an event
 * without texts seven, and texts one for every 32 of their UTF-16 units, which are 96 bytes at most.
 */
const MOST_WEIGHT = 40_000
const EVENT_WEIGHT = 7
const UNITS_SHIFT = 5

/** Whoever comes while all calls are under way goes with the next: nobody waits for a clock. */
export function createEventSender(analytics: Client<typeof EventServiceService>): EventSender {
  const queue: Waiting[] = []
  let calls = 0

  const take = (): Waiting[] => {
    let weight = 0
    let count = 0
    for (const next of queue) {
      if (count > 0 && (count >= MOST_REQUESTS || weight + next.weight > MOST_WEIGHT)) break
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
  const sendTogether = async (taken: readonly Waiting[]) => {
    const requests = taken.map(({ request }) => request)
    try {
      const { responses } = await analytics.acceptEventBatch({ requests }, serviceCall('gateway', taken[0]?.requestId ?? ''))
      for (const [nth, one] of taken.entries()) one.resolve(responses[nth] ?? { accepted: 0, rejected: [] })
    } catch (error) {
      // One of them may be the reason, or the service is older than this call; taking an event twice changes nothing.
      if (isDomainError(error) && error.reason !== 'VIDEO_UNCHECKED') for (const one of taken) one.reject(error)
      else await Promise.all(taken.map(sendAlone))
    }
  }
  const sendOn = async () => {
    while (queue.length > 0) {
      const taken = take()
      const [first] = taken
      if (taken.length === 1 && first) await sendAlone(first)
      else await sendTogether(taken)
    }
    calls--
  }

  return {
    send: (request, requestId) =>
      new Promise((resolve, reject) => {
        queue.push({ request, requestId, weight: weightOf(request), resolve, reject })
        if (calls >= CALLS) return
        calls++
        // Others of this turn of the event loop go along.
        setImmediate(() => void sendOn())
      }),
  }
}

/** Lengths alone: there are tens of thousands of events a second. */
function weightOf({ events, userAgent, clientAddress }: AcceptEventsRequest): number {
  let weight = 1 + ((userAgent.length + clientAddress.length) >> UNITS_SHIFT)
  for (const { videoId, viewId, language, subtitle, quality, watched, rewatched } of events) {
    const units = videoId.length + viewId.length + language.length + subtitle.length + (quality ? quality.error.length : 0)
    weight += EVENT_WEIGHT + (units >> UNITS_SHIFT) + watched.length + rewatched.length
  }
  return weight
}
