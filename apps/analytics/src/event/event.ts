import { isStorable } from '@vitascope/request'
import type { Video } from '../video/video-store.ts'
import { DAY_MS } from '../view/day.ts'
import { type Client, formatClient } from '../view/dimension.ts'
import type { StoredEvent } from '../view/event-row.ts'
import { toReportedLanguage } from './language.ts'
import { toReferrerDomain } from './referrer.ts'
import type { ClientSoftware } from './user-agent.ts'

/** An event with the numbers that the player has sent. */
export interface ReceivedEvent {
  videoId: string
  viewId: string
  /** A value of EVENT_TYPE, or 0 if the type is unknown. */
  type: number
  atMs: number
  positionSeconds?: number | undefined
  watched: readonly { fromSeconds: number; toSeconds: number }[]
  rewatched: readonly { fromSeconds: number; toSeconds: number }[]
  language: string
  subtitle: string
  quality: { startupMs?: number | undefined; stalls: number; stalledMs: number; switches: number; error: string } | undefined
  /** Host of the page with the player or with the link to it. */
  referrer: string
  /** If true, the event only counts if its view is already stored. */
  knownViewOnly: boolean
}

/**
 * Why an event is rejected. The reason is an identifier for metrics. The message is for the developer
 * of the player.
 */
export interface Rejection {
  reason: string
  message: string
}

const MAX_AHEAD_MS = 300_000
const MAX_INTERVALS = 1_000
/** Larger positions are stored as this one. No video is longer. */
const MAX_POSITION_SECONDS = 2_000_000
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LANGUAGE_PATTERN = /^[A-Za-z0-9-]{0,35}$/

export const UNKNOWN_VIDEO: Rejection = { reason: 'unknown_video', message: 'video_id: no such video' }
export const TOO_MANY_VIEWS: Rejection = {
  reason: 'too_many_views',
  message: 'view_id: too_many_views: this address started too many views of this video within a minute',
}
export const TOO_OLD: Rejection = { reason: 'too_old', message: 'at: is more than 24 hours ago' }
export const BOT: Rejection = { reason: 'bot', message: 'events of crawlers are not counted' }

/** Returns the fault of an event that arrives at `nowMs`, or undefined. It does not check the video. */
export function findFault(event: ReceivedEvent, nowMs: number): Rejection | undefined {
  const { type, watched, rewatched, language, subtitle } = event
  return (
    findViewIdFault(event.viewId) ??
    (type === 0 ? { reason: 'bad_type', message: 'type: must be load, play, progress or ended' } : undefined) ??
    findTimeFault(event.atMs, nowMs) ??
    findPositionFault(event.positionSeconds) ??
    findIntervalFault('watched', watched) ??
    findIntervalFault('rewatched', rewatched) ??
    findLanguageFault('language', language) ??
    findLanguageFault('subtitle', subtitle) ??
    findQualityFault(event.quality)
  )
}

export function findViewIdFault(viewId: string): Rejection | undefined {
  return UUID_PATTERN.test(viewId) ? undefined : { reason: 'bad_view', message: 'view_id: must be a UUID' }
}

export function findTimeFault(atMs: number, nowMs: number): Rejection | undefined {
  if (!Number.isFinite(atMs)) return { reason: 'bad_time', message: 'at: must be milliseconds since 1970' }
  if (atMs < nowMs - DAY_MS) return TOO_OLD
  return atMs > nowMs + MAX_AHEAD_MS ? { reason: 'in_future', message: 'at: is more than 5 minutes ahead' } : undefined
}

export function findPositionFault(seconds: number | undefined): Rejection | undefined {
  if (seconds === undefined || isPositionValid(seconds)) return undefined
  return { reason: 'bad_position', message: 'position: must be seconds, 0 or more' }
}

function findIntervalFault(name: string, intervals: ReceivedEvent['watched']): Rejection | undefined {
  if (intervals.length > MAX_INTERVALS) return { reason: 'bad_interval', message: `${name}: must have at most 1,000 intervals` }
  if (intervals.every(({ fromSeconds: from, toSeconds: to }) => isPositionValid(from) && isPositionValid(to) && from <= to))
    return undefined
  return { reason: 'bad_interval', message: `${name}: must be intervals [from, to] of seconds, 0 <= from <= to` }
}

function findLanguageFault(name: string, text: string): Rejection | undefined {
  if (LANGUAGE_PATTERN.test(text)) return undefined
  return { reason: 'bad_language', message: `${name}: must have at most 35 letters, digits and hyphens` }
}

function findQualityFault(quality: ReceivedEvent['quality']): Rejection | undefined {
  if (!quality) return undefined
  const { startupMs = 0, stalls, stalledMs, switches, error } = quality
  const fault = (requirement: string) => ({ reason: 'bad_quality', message: `qoe: ${requirement}` })
  if (!isWithin(startupMs, 3_600_000)) return fault('startup_ms must be 0 to 3,600,000')
  if (!isWithin(stalls, 1_000_000)) return fault('stalls must be 0 to 1,000,000')
  if (!isWithin(stalledMs, DAY_MS)) return fault('stalled_ms must be 0 to 86,400,000')
  if (!isWithin(switches, 1_000_000)) return fault('switches must be 0 to 1,000,000')
  if (error.length > 100 || !isStorable(error)) return fault('error must be a text of at most 100 characters')
  return undefined
}

/** Returns the event to store. Times are rounded to milliseconds. Languages become the languages of reports. */
export function toStoredEvent(
  event: ReceivedEvent,
  {
    languages = [],
    software,
    ...context
  }: Pick<StoredEvent, 'organisationId' | 'durationMs' | 'receivedMs' | 'visitor'> &
    Pick<Video, 'languages'> & { software?: ClientSoftware & Pick<Client, 'country'> },
): StoredEvent {
  const { positionSeconds, quality } = event
  return {
    ...context,
    videoId: event.videoId,
    viewId: event.viewId.toLowerCase(),
    type: event.type,
    atMs: Math.trunc(event.atMs),
    positionMs: positionSeconds === undefined ? undefined : toMs(positionSeconds),
    watched: toPairs(event.watched),
    rewatched: toPairs(event.rewatched),
    language: toReportedLanguage(event.language, languages),
    subtitle: toReportedLanguage(event.subtitle, languages),
    quality: quality && {
      startupMs: quality.startupMs === undefined ? undefined : Math.round(quality.startupMs),
      stalls: Math.round(quality.stalls),
      stalledMs: Math.round(quality.stalledMs),
      switches: Math.round(quality.switches),
    },
    error: quality?.error ?? '',
    client: software ? formatClient({ ...software, referrer: toReferrerDomain(event.referrer) }) : '',
  }
}

function toPairs(intervals: ReceivedEvent['watched']): number[] {
  const points: number[] = []
  for (const { fromSeconds, toSeconds } of intervals) points.push(toMs(fromSeconds), toMs(toSeconds))
  return points
}

/** Returns a position in milliseconds. */
export function toMs(seconds: number): number {
  return Math.round(Math.min(seconds, MAX_POSITION_SECONDS) * 1000)
}

/** Accepts infinity, which means the end of the video. */
function isPositionValid(seconds: number): boolean {
  return seconds >= 0
}

export function isWithin(value: number, max: number): boolean {
  return value >= 0 && value <= max
}
