import { DomainError, invalid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { AcceptEventsRequest, Event, EventServiceService, EventType } from '@vitascope/proto/analytics/v1/event'
import type { Metrics } from '@vitascope/telemetry'
import type { VideoDirectory } from '../video/video-directory.ts'
import { dayOf } from '../view/contribution.ts'
import { EVENT_TYPE } from '../view/view.ts'
import { isBot } from './bot.ts'
import { BOT, findFault, type KeptEvent, keep, type Rejection, type ToldEvent, UNKNOWN_VIDEO } from './event.ts'
import type { Intake } from './intake.ts'
import type { Visitors } from './visitor.ts'

const MOST = 100
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
  metrics: Metrics
  now?: () => number
}

export function eventHandlers({ intake, videos, visitors, metrics, now = Date.now }: EventParts): Handlers<typeof EventServiceService> {
  const accepted = metrics.counter('vitascope_analytics_accepted_events_total', 'Events that count')
  const rejected = metrics.counter('vitascope_analytics_rejected_events_total', 'Events that do not count, by the reason', ['reason'])
  return {
    async acceptEvents({ events, userAgent, clientAddress }: AcceptEventsRequest, { principal }) {
      if (principal.kind !== 'service') throw new DomainError('forbidden', 'SERVICES_ONLY', 'only services call this')
      if (events.length === 0 || events.length > MOST) throw invalid([{ field: 'events', message: `must be 1 to ${MOST}` }])
      const receivedMs = now()
      const bot = isBot(userAgent)
      const told = events.map(toTold)
      const faults = told.map((event) => (bot ? BOT : findFault(event, receivedMs)))
      const sound = told.filter((_, nth) => !faults[nth])
      const known = await videos.standing([...new Set(sound.map(({ videoId }) => videoId))])
      const kept: KeptEvent[] = []
      const visitorOf = new Map<string, Uint8Array | undefined>()
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
      await intake.add(kept)
      accepted.inc(kept.length)
      for (const { reason } of refusals) rejected.inc({ reason })
      return { accepted: kept.length, rejected: refusals.map(({ index, message }) => ({ index, message })) }
    },
  }
}

function toTold(event: Event): ToldEvent {
  const { videoId, viewId, atMs, positionSeconds, watched, rewatched, language, subtitle, quality } = event
  return { videoId, viewId, type: TYPES[event.type] ?? 0, atMs, positionSeconds, watched, rewatched, language, subtitle, quality }
}
