import type { Countries } from '@vitascope/country'
import { invalid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { requireService } from '@vitascope/principal'
import type { AcceptEventsRequest, Event, EventServiceService, EventType } from '@vitascope/proto/analytics/v1/event'
import type { Metrics } from '@vitascope/telemetry'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { Video } from '../video/video-store.ts'
import { toDay } from '../view/day.ts'
import type { StoredEvent } from '../view/event-row.ts'
import { EVENT_TYPE } from '../view/view.ts'
import { isBot } from './bot.ts'
import { BOT, findFault, type ReceivedEvent, type Rejection, TOO_MANY_VIEWS, toStoredEvent, UNKNOWN_VIDEO } from './event.ts'
import type { EventWriter } from './event-writer.ts'
import type { CountRejected } from './rejected-events.ts'
import { type StoredViews, storedViewKey } from './stored-views.ts'
import { parseUserAgent } from './user-agent.ts'
import type { Visitors } from './visitor.ts'

const MAX_EVENTS_PER_REQUEST = 100
/** Maximum number of requests of players that the gateway sends in one call. */
const MAX_REQUESTS = 1_000
const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  EVENT_TYPE_LOAD: EVENT_TYPE.load,
  EVENT_TYPE_PLAY: EVENT_TYPE.play,
  EVENT_TYPE_PROGRESS: EVENT_TYPE.progress,
  EVENT_TYPE_ENDED: EVENT_TYPE.ended,
} satisfies Partial<Record<EventType, number>>

export interface EventParts {
  eventWriter: Pick<EventWriter, 'add'>
  videos: Pick<VideoDirectory, 'findExisting'>
  visitors: Pick<Visitors, 'findId'>
  views: StoredViews
  countries: Pick<Countries, 'find'>
  countRejected: CountRejected
  metrics: Metrics
  now?: () => number
}

export function eventHandlers({
  eventWriter,
  videos,
  visitors,
  views,
  countries,
  countRejected,
  metrics,
  now = Date.now,
}: EventParts): Handlers<typeof EventServiceService> {
  const accepted = metrics.counter('vitascope_analytics_accepted_events_total', 'Accepted events')
  /** Validates the events of a request. Returns the valid events and the rejections, and stores nothing. */
  const validate = async (
    { events, faults, userAgent, clientAddress }: RequestEvents,
    {
      videosById,
      storedViews,
      receivedMs,
    }: { videosById: ReadonlyMap<string, Video>; storedViews: ReadonlySet<string>; receivedMs: number },
  ) => {
    const validEvents: StoredEvent[] = []
    const software = { ...parseUserAgent(userAgent), country: toCountry(countries.find(clientAddress)) }
    const visitorsByDay = new Map<string, string | undefined>()
    const rejections: (Rejection & { index: number })[] = []
    for (const [index, event] of events.entries()) {
      const video = videosById.get(event.videoId)
      const fault = faults[index] ?? (video ? findViewFault(event, storedViews) : UNKNOWN_VIDEO)
      if (fault || !video) {
        rejections.push({ index, ...(fault ?? UNKNOWN_VIDEO) })
        continue
      }
      const day = toDay(event.atMs)
      const visitor = visitorsByDay.get(day) ?? (await visitors.findId({ address: clientAddress, userAgent, day }))
      visitorsByDay.set(day, visitor)
      const { organisationId, durationMs, languages } = video
      validEvents.push(toStoredEvent(event, { organisationId, durationMs, languages, receivedMs, visitor, software }))
    }
    return { validEvents, rejections }
  }
  const accept = async (requests: readonly AcceptEventsRequest[], principal: Principal) => {
    requireService(principal)
    const receivedMs = now()
    const parsedRequests = requests.map((request) => parseRequest(request, receivedMs))
    const videosById = await videos.findExisting(findVideoIds(parsedRequests))
    const results: Awaited<ReturnType<typeof validate>>[] = []
    const storedViews = await views.findStored(findRestrictedEvents(parsedRequests))
    for (const request of parsedRequests) results.push(await validate(request, { videosById, storedViews, receivedMs }))
    const validEvents = results.flatMap((result) => result.validEvents)
    await eventWriter.add(validEvents)
    accepted.inc(validEvents.length)
    for (const { rejections } of results) for (const { reason } of rejections) countRejected(reason, 1)
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

/** The events of a request. The fault of an event has the same index as the event. */
interface RequestEvents extends Pick<AcceptEventsRequest, 'userAgent' | 'clientAddress'> {
  events: readonly ReceivedEvent[]
  faults: readonly (Rejection | undefined)[]
}

function parseRequest({ userAgent, clientAddress, ...request }: AcceptEventsRequest, receivedMs: number): RequestEvents {
  const isFromBot = isBot(userAgent)
  const events = request.events.map(toReceivedEvent)
  return { events, faults: events.map((event) => (isFromBot ? BOT : findFault(event, receivedMs))), userAgent, clientAddress }
}

/** Returns the video ids of all events without a fault. */
function findVideoIds(requests: readonly RequestEvents[]): string[] {
  const videoIds = new Set<string>()
  for (const { events, faults } of requests) for (const [index, { videoId }] of events.entries()) if (!faults[index]) videoIds.add(videoId)
  return [...videoIds]
}

/** Returns the valid events that only count if their view is already stored. */
function findRestrictedEvents(requests: readonly RequestEvents[]): ReceivedEvent[] {
  return requests.flatMap(({ events, faults }) => events.filter(({ knownViewOnly }, index) => knownViewOnly && !faults[index]))
}

function findViewFault(event: ReceivedEvent, storedViews: ReadonlySet<string>): Rejection | undefined {
  return event.knownViewOnly && !storedViews.has(storedViewKey(event)) ? TOO_MANY_VIEWS : undefined
}

function requireCount(field: string, list: readonly unknown[], max: number): void {
  if (list.length === 0 || list.length > max) throw invalid([{ field, message: `must have 1 to ${max} items` }])
}

function toReceivedEvent(event: Event): ReceivedEvent {
  const { videoId, viewId, atMs, positionSeconds, watched, rewatched, language, subtitle, quality, referrer, knownViewOnly } = event
  const type = TYPE_NUMBERS[event.type] ?? 0
  return { videoId, viewId, type, atMs, positionSeconds, watched, rewatched, language, subtitle, quality, referrer, knownViewOnly }
}

/** Returns a code of ISO 3166-1, or an empty text if the country is unknown. */
function toCountry(code: string | undefined): string {
  return code !== undefined && /^[A-Z]{2}$/.test(code) ? code : ''
}
