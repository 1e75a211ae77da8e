import { invalid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { AcceptEventsRequest, Event, EventServiceService, EventType } from '@vitascope/proto/analytics/v1/event'
import type { Metrics } from '@vitascope/telemetry'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { Video } from '../video/video-store.ts'
import { dayOf } from '../view/contribution.ts'
import type { StoredEvent } from '../view/event-row.ts'
import { EVENT_TYPE } from '../view/view.ts'
import { isBot } from './bot.ts'
import { BOT, findFault, type ReceivedEvent, type Rejection, TOO_MANY_VIEWS, toStoredEvent, UNKNOWN_VIDEO } from './event.ts'
import type { EventWriter } from './event-writer.ts'
import type { CountRejected } from './rejected-events.ts'
import { type StoredViews, storedViewKey } from './stored-views.ts'
import type { Visitors } from './visitor.ts'

const MAX_EVENTS_PER_REQUEST = 100
const MAX_REQUESTS = 1_000
const TYPES: Readonly<Record<string, number>> = {
  EVENT_TYPE_LOAD: EVENT_TYPE.load,
  EVENT_TYPE_PLAY: EVENT_TYPE.play,
  EVENT_TYPE_PROGRESS: EVENT_TYPE.progress,
  EVENT_TYPE_ENDED: EVENT_TYPE.ended,
} satisfies Partial<Record<EventType, number>>

export interface EventParts {
  eventWriter: Pick<EventWriter, 'add'>
  videos: Pick<VideoDirectory, 'findExisting'>
  visitors: Pick<Visitors, 'idOf'>
  views: StoredViews
  rejected: CountRejected
  metrics: Metrics
  now?: () => number
}

export function eventHandlers({
  eventWriter,
  videos,
  visitors,
  views,
  rejected,
  metrics,
  now = Date.now,
}: EventParts): Handlers<typeof EventServiceService> {
  const accepted = metrics.counter('vitascope_analytics_accepted_events_total', 'Accepted events')
  /** Validates the events of a request. Returns the valid events and the rejections, and stores nothing. */
  const validate = async (
    { received, faults, userAgent, clientAddress }: RequestEvents,
    { known, stored, receivedMs }: { known: ReadonlyMap<string, Video>; stored: ReadonlySet<string>; receivedMs: number },
  ) => {
    const validEvents: StoredEvent[] = []
    const visitorOf = new Map<string, string | undefined>()
    const rejections: (Rejection & { index: number })[] = []
    for (const [index, event] of received.entries()) {
      const video = known.get(event.videoId)
      const fault = faults[index] ?? (video ? findViewFault(event, stored) : UNKNOWN_VIDEO)
      if (fault || !video) {
        rejections.push({ index, ...(fault ?? UNKNOWN_VIDEO) })
        continue
      }
      const day = dayOf(event.atMs)
      const visitor = visitorOf.get(day) ?? (await visitors.idOf({ address: clientAddress, userAgent, day }))
      visitorOf.set(day, visitor)
      const { organisationId, durationMs, languages } = video
      validEvents.push(toStoredEvent(event, { organisationId, durationMs, languages, receivedMs, visitor }))
    }
    return { validEvents, rejections }
  }
  const accept = async (requests: readonly AcceptEventsRequest[], principal: Principal) => {
    requireService(principal)
    const receivedMs = now()
    const all = requests.map((request) => parseRequest(request, receivedMs))
    const known = await videos.findExisting(findVideoIds(all))
    const results: Awaited<ReturnType<typeof validate>>[] = []
    const stored = await views.stored(findRestrictedEvents(all))
    for (const one of all) results.push(await validate(one, { known, stored, receivedMs }))
    const validEvents = results.flatMap((result) => result.validEvents)
    await eventWriter.add(validEvents)
    accepted.inc(validEvents.length)
    for (const { rejections } of results) for (const { reason } of rejections) rejected(reason, 1)
    return results.map(({ validEvents, rejections }) => ({
      accepted: validEvents.length,
      rejected: rejections.map(({ index, message }) => ({ index, message })),
    }))
  }
  return {
    async acceptEvents(request, { principal }) {
      requireCount('events', request.events, MAX_EVENTS_PER_REQUEST)
      const [response] = await accept([request], principal)
      return response ?? { accepted: 0, rejected: [] }
    },
    async acceptEventBatch({ requests }, { principal }) {
      requireCount('requests', requests, MAX_REQUESTS)
      for (const { events } of requests) requireCount('events', events, MAX_EVENTS_PER_REQUEST)
      return { responses: await accept(requests, principal) }
    },
  }
}

/** The events of a request, and the fault of each event at the same index. */
interface RequestEvents extends Pick<AcceptEventsRequest, 'userAgent' | 'clientAddress'> {
  received: readonly ReceivedEvent[]
  faults: readonly (Rejection | undefined)[]
}

function parseRequest({ events, userAgent, clientAddress }: AcceptEventsRequest, receivedMs: number): RequestEvents {
  const bot = isBot(userAgent)
  const received = events.map(toReceived)
  return { received, faults: received.map((event) => (bot ? BOT : findFault(event, receivedMs))), userAgent, clientAddress }
}

/** Returns the video ids of all events without a fault. */
function findVideoIds(all: readonly RequestEvents[]): string[] {
  const found = new Set<string>()
  for (const { received, faults } of all) for (const [nth, { videoId }] of received.entries()) if (!faults[nth]) found.add(videoId)
  return [...found]
}

/** Returns the valid events that are accepted only if their view is already stored. */
function findRestrictedEvents(all: readonly RequestEvents[]): ReceivedEvent[] {
  return all.flatMap(({ received, faults }) => received.filter(({ knownViewOnly }, nth) => knownViewOnly && !faults[nth]))
}

function findViewFault(event: ReceivedEvent, stored: ReadonlySet<string>): Rejection | undefined {
  return event.knownViewOnly && !stored.has(storedViewKey(event)) ? TOO_MANY_VIEWS : undefined
}

function requireCount(field: string, list: readonly unknown[], max: number): void {
  if (list.length === 0 || list.length > max) throw invalid([{ field, message: `must be 1 to ${max}` }])
}

function toReceived(event: Event): ReceivedEvent {
  const { videoId, viewId, atMs, positionSeconds, watched, rewatched, language, subtitle, quality, knownViewOnly } = event
  const type = TYPES[event.type] ?? 0
  return { videoId, viewId, type, atMs, positionSeconds, watched, rewatched, language, subtitle, quality, knownViewOnly }
}
