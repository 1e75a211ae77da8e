import { DomainError, invalid } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import type { AcceptEventsRequest, Event, EventServiceService, EventType } from '@vitascope/proto/analytics/v1/event'
import type { Metrics } from '@vitascope/telemetry'
import type { VideoDirectory } from '../video/video-directory.ts'
import type { Video } from '../video/video-store.ts'
import { dayOf } from '../view/contribution.ts'
import { EVENT_TYPE } from '../view/view.ts'
import { isBot } from './bot.ts'
import { BOT, findFault, type KeptEvent, keep, type Rejection, type ToldEvent, UNKNOWN_VIDEO } from './event.ts'
import type { Intake } from './intake.ts'
import type { CountRejected } from './rejected-events.ts'
import type { Visitors } from './visitor.ts'

const MOST = 100
const MOST_REQUESTS = 1_000
const TYPES: Readonly<Record<string, number>> = {
  EVENT_TYPE_LOAD: EVENT_TYPE.load,
  EVENT_TYPE_PLAY: EVENT_TYPE.play,
  EVENT_TYPE_PROGRESS: EVENT_TYPE.progress,
  EVENT_TYPE_ENDED: EVENT_TYPE.ended,
} satisfies Partial<Record<EventType, number>>

export interface EventParts {
  intake: Pick<Intake, 'add'>
  videos: Pick<VideoDirectory, 'standing'>
  visitors: Pick<Visitors, 'of'>
  rejected: CountRejected
  metrics: Metrics
  now?: () => number
}

export function eventHandlers({
  intake,
  videos,
  visitors,
  rejected,
  metrics,
  now = Date.now,
}: EventParts): Handlers<typeof EventServiceService> {
  const accepted = metrics.counter('vitascope_analytics_accepted_events_total', 'Events that count')
  /** What counts of a request, and what does not; nothing is kept yet. */
  const judge = async ({ told, faults, userAgent, clientAddress }: Told, known: ReadonlyMap<string, Video>, receivedMs: number) => {
    const kept: KeptEvent[] = []
    const visitorOf = new Map<string, string | undefined>()
    const refusals: (Rejection & { index: number })[] = []
    for (const [index, event] of told.entries()) {
      const video = known.get(event.videoId)
      const fault = faults[index] ?? (video ? undefined : UNKNOWN_VIDEO)
      if (fault || !video) {
        refusals.push({ index, ...(fault ?? UNKNOWN_VIDEO) })
        continue
      }
      const day = dayOf(event.atMs)
      const visitor = visitorOf.get(day) ?? (await visitors.of({ address: clientAddress, userAgent, day }))
      visitorOf.set(day, visitor)
      kept.push(keep(event, { organisationId: video.organisationId, durationMs: video.durationMs, receivedMs, visitor }))
    }
    return { kept, refusals }
  }
  const accept = async (requests: readonly AcceptEventsRequest[], principal: Principal) => {
    if (principal.kind !== 'service') throw new DomainError('forbidden', 'SERVICES_ONLY', 'only services call this')
    const receivedMs = now()
    const all = requests.map((request) => read(request, receivedMs))
    const known = await videos.standing(videosOf(all))
    const judged: Awaited<ReturnType<typeof judge>>[] = []
    for (const one of all) judged.push(await judge(one, known, receivedMs))
    const kept = judged.flatMap((one) => one.kept)
    await intake.add(kept)
    accepted.inc(kept.length)
    for (const { refusals } of judged) for (const { reason } of refusals) rejected(reason, 1)
    return judged.map(({ kept: some, refusals }) => ({
      accepted: some.length,
      rejected: refusals.map(({ index, message }) => ({ index, message })),
    }))
  }
  return {
    async acceptEvents(request, { principal }) {
      checkCount('events', request.events, MOST)
      const [response] = await accept([request], principal)
      return response ?? { accepted: 0, rejected: [] }
    },
    async acceptEventBatch({ requests }, { principal }) {
      checkCount('requests', requests, MOST_REQUESTS)
      for (const { events } of requests) checkCount('events', events, MOST)
      return { responses: await accept(requests, principal) }
    },
  }
}

/** A request with what is wrong with its events in themselves, each in its place. */
interface Told extends Pick<AcceptEventsRequest, 'userAgent' | 'clientAddress'> {
  told: readonly ToldEvent[]
  faults: readonly (Rejection | undefined)[]
}

function read({ events, userAgent, clientAddress }: AcceptEventsRequest, receivedMs: number): Told {
  const bot = isBot(userAgent)
  const told = events.map(toTold)
  return { told, faults: told.map((event) => (bot ? BOT : findFault(event, receivedMs))), userAgent, clientAddress }
}

/** Of all events that are sound in themselves. */
function videosOf(all: readonly Told[]): string[] {
  const found = new Set<string>()
  for (const { told, faults } of all) for (const [nth, { videoId }] of told.entries()) if (!faults[nth]) found.add(videoId)
  return [...found]
}

function checkCount(field: string, list: readonly unknown[], most: number): void {
  if (list.length === 0 || list.length > most) throw invalid([{ field, message: `must be 1 to ${most}` }])
}

function toTold(event: Event): ToldEvent {
  const { videoId, viewId, atMs, positionSeconds, watched, rewatched, language, subtitle, quality } = event
  return { videoId, viewId, type: TYPES[event.type] ?? 0, atMs, positionSeconds, watched, rewatched, language, subtitle, quality }
}
