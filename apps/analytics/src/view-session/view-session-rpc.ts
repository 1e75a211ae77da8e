import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { canSee, getScope, requireService, requireUser } from '@vitascope/principal'
import {
  type AcceptSessionEventsRequest,
  PlayerState,
  type SessionEvent as SessionEventMessage,
  SessionEventType,
  type ViewSession,
  type ViewSessionServiceService,
} from '@vitascope/proto/analytics/v1/view_session'
import { decodePageToken, encodePageToken, invalidPageToken, isId, isUuid, type PageRequest, toPageSize } from '@vitascope/request'
import type { Metrics } from '@vitascope/telemetry'
import { isBot } from '../event/bot.ts'
import { BOT, type Rejection, TOO_MANY_VIEWS, UNKNOWN_VIDEO } from '../event/event.ts'
import type { CountRejected } from '../event/rejected-events.ts'
import { type StoredViews, storedViewKey } from '../event/stored-views.ts'
import type { VideoDirectory } from '../video/video-directory.ts'
import { SESSION_EVENT_TYPE, type StoredSessionEvent, type ViewStart } from '../view/session-event-store.ts'
import { toViewKey } from '../view/view-batch.ts'
import { findSessionFault, PLAYER_STATES, toStoredSessionEvent } from './session-event.ts'
import type { SessionWriter } from './session-writer.ts'
import { buildTimeline, type TimelineEvent } from './view-session.ts'
import type { SessionPosition, ViewSessionStore } from './view-session-store.ts'

const MAX_EVENTS_PER_REQUEST = 100
/** Limits the cost of a page: a session without quality from player events is computed from up to 500 session events. */
const MAX_PAGE_SIZE = 100
const TYPES = [
  SessionEventType.SESSION_EVENT_TYPE_UNSPECIFIED,
  SessionEventType.SESSION_EVENT_TYPE_STATE,
  SessionEventType.SESSION_EVENT_TYPE_SWITCH,
  SessionEventType.SESSION_EVENT_TYPE_ERROR,
  SessionEventType.SESSION_EVENT_TYPE_STARTUP,
  SessionEventType.SESSION_EVENT_TYPE_STALL,
] as const

export interface ViewSessionParts {
  writer: Pick<SessionWriter, 'add'>
  sessions: ViewSessionStore
  videos: Pick<VideoDirectory, 'findExisting'>
  views: StoredViews
  countRejected: CountRejected
  metrics: Metrics
  now?: () => number
}

export function viewSessionHandlers(parts: ViewSessionParts): Handlers<typeof ViewSessionServiceService> {
  const { writer, sessions, videos, countRejected, metrics } = parts
  const accepted = metrics.counter('vitascope_analytics_session_events_total', 'Accepted session events')
  return {
    async acceptSessionEvents(request, { principal }) {
      requireService(principal)
      const { storedEvents, rejections } = await validate(request, parts)
      await writer.add(storedEvents)
      accepted.inc(storedEvents.length)
      for (const { reason } of rejections) countRejected(reason, 1)
      return { accepted: storedEvents.length, rejected: rejections.map(({ index, message }) => ({ index, message })) }
    },
    async getViewSession({ viewId }, { principal }) {
      const scope = getScope(principal)
      const lowercaseId = viewId.toLowerCase()
      const start = isUuid(lowercaseId) ? await sessions.findStart(lowercaseId, scope) : undefined
      // The sessions of a deleted video are deleted later.
      if (!start || !(await videos.findExisting([start.videoId])).has(start.videoId)) throw notFound('view', viewId)
      const [summary] = await summarise([start], sessions, { withEvents: true })
      if (!summary) throw notFound('view', viewId)
      return { session: summary.session, events: summary.events.map(toEventMessage) }
    },
    async listViewSessions({ videoId, ...request }, { principal }) {
      requireUser(principal)
      const video = isId(videoId) ? (await videos.findExisting([videoId])).get(videoId) : undefined
      if (!video || !canSee(principal, video.organisationId)) throw notFound('video', videoId)
      const size = toPageSize(request, MAX_PAGE_SIZE)
      const starts = await sessions.listStarts(videoId, { after: readPosition(request), limit: size + 1, skip: request.skip })
      const page = starts.slice(0, size)
      const last = page.at(-1)
      const summaries = await summarise(page, sessions, { withEvents: false })
      return {
        sessions: summaries.map(({ session }) => session),
        nextPageToken: starts.length > size && last ? encodePageToken([String(last.startMs), last.viewId]) : '',
      }
    },
  }
}

/** Validates the events of a request. Returns the events to store and the rejections, and stores nothing. */
async function validate({ events, userAgent }: AcceptSessionEventsRequest, { videos, views, now = Date.now }: ViewSessionParts) {
  if (events.length === 0 || events.length > MAX_EVENTS_PER_REQUEST)
    throw invalid([{ field: 'events', message: `must have 1 to ${MAX_EVENTS_PER_REQUEST} items` }])
  const nowMs = now()
  const isFromBot = isBot(userAgent)
  const faults = events.map((event) => (isFromBot ? BOT : findSessionFault(event, nowMs)))
  const validEvents = events.filter((_, index) => !faults[index])
  const videosById = await videos.findExisting([...new Set(validEvents.map(({ videoId }) => videoId))])
  const storedViews = await views.findStored(validEvents.filter(({ knownViewOnly }) => knownViewOnly))
  const storedEvents: StoredSessionEvent[] = []
  const rejections: (Rejection & { index: number })[] = []
  for (const [index, received] of events.entries()) {
    const video = videosById.get(received.videoId)
    const isExcess = received.knownViewOnly && !storedViews.has(storedViewKey(received))
    const fault = faults[index] ?? (video ? undefined : UNKNOWN_VIDEO) ?? (isExcess ? TOO_MANY_VIEWS : undefined)
    if (fault || !video || !received.event) rejections.push({ index, ...(fault ?? UNKNOWN_VIDEO) })
    else storedEvents.push(toStoredSessionEvent(received, received.event, video.organisationId))
  }
  return { storedEvents, rejections }
}

/**
 * Returns the sessions of views. The quality that player events reported is preferred. Without it,
 * the quality is computed from the session events. Session events are read for these views only, or
 * for all views with `withEvents`. The other sessions have no `events`.
 */
async function summarise(
  starts: readonly ViewStart[],
  sessions: Pick<ViewSessionStore, 'readViews' | 'readEvents'>,
  { withEvents }: { withEvents: boolean },
): Promise<{ session: ViewSession; events: TimelineEvent[] }[]> {
  const viewsByKey = await sessions.readViews(starts)
  const withoutQuality = starts.filter((start) => !viewsByKey.get(toViewKey(start))?.quality)
  const eventsByKey = await sessions.readEvents(withEvents ? starts : withoutQuality)
  return starts.map((start) => {
    const view = viewsByKey.get(toViewKey(start))
    const timeline = buildTimeline(eventsByKey.get(toViewKey(start)) ?? [])
    const { startupMs, stalls, stalledMs, switches } = view?.quality ?? timeline.quality
    const { viewId, videoId, organisationId } = start
    const startMs = Math.min(start.startMs, view?.firstMs ?? start.startMs)
    const hasError = (view?.failed ?? false) || timeline.hasError
    return {
      session: { ...{ viewId, videoId, organisationId, startMs, stalls, stalledMs, switches, hasError }, startupMs },
      events: timeline.events,
    }
  })
}

function toEventMessage(event: TimelineEvent): SessionEventMessage {
  const { type, atMs, positionMs, state = 0, fromHeight = 0, toHeight = 0, fromKbps = 0, toKbps = 0 } = event
  return {
    type: TYPES[type] ?? SessionEventType.SESSION_EVENT_TYPE_UNSPECIFIED,
    atMs,
    positionSeconds: positionMs === undefined ? undefined : positionMs / 1_000,
    state: PLAYER_STATES[state] ?? PlayerState.PLAYER_STATE_UNSPECIFIED,
    renditionSwitch: type === SESSION_EVENT_TYPE.switch ? { fromHeight, toHeight, fromKbps, toKbps } : undefined,
    errorCode: event.errorCode ?? '',
    startupMs: event.startupMs,
    stalledMs: event.stalledMs,
  }
}

function readPosition({ pageToken }: Pick<PageRequest, 'pageToken'>): SessionPosition | undefined {
  const [startMs, viewId] = decodePageToken(pageToken, 2) ?? []
  if (startMs === undefined || viewId === undefined) return undefined
  if (!/^-?\d{1,16}$/.test(startMs) || !isUuid(viewId)) throw invalidPageToken()
  return { startMs, viewId }
}
