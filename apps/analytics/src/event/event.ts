import type { ViewEvent } from '../view/view.ts'

/** An event as it is kept. */
export interface KeptEvent extends ViewEvent {
  receivedMs: number
  /** A hash whose salt lives a day, in hex; undefined where no address was told. */
  visitor: string | undefined
}

/** What a player tells, with the numbers as they came. */
export interface ToldEvent {
  videoId: string
  viewId: string
  /** 0 for none of those known. */
  type: number
  atMs: number
  positionSeconds?: number | undefined
  watched: readonly { fromSeconds: number; toSeconds: number }[]
  rewatched: readonly { fromSeconds: number; toSeconds: number }[]
  language: string
  subtitle: string
  quality: { startupMs?: number | undefined; stalls: number; stalledMs: number; error: string } | undefined
}

/** Why an event does not count: a stable word for the metrics, and a sentence for whoever wrote the player. */
export interface Rejection {
  reason: string
  message: string
}

const DAY_MS = 86_400_000
const AHEAD_MS = 300_000
const MOST_INTERVALS = 1_000
/** Seconds; what lies behind the end of the video is cut off, so nothing real is lost. */
const LONGEST = 2_000_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const LANGUAGE = /^[A-Za-z0-9-]{0,35}$/

export const UNKNOWN_VIDEO: Rejection = { reason: 'unknown_video', message: 'video_id: there is no such video' }
export const TOO_OLD: Rejection = { reason: 'too_old', message: 'at: is more than 24 hours ago' }
export const BOT: Rejection = { reason: 'bot', message: 'events of crawlers are not counted' }

/** What is wrong with an event in itself, at the time at which it came. */
export function findFault(event: ToldEvent, nowMs: number): Rejection | undefined {
  const { type, viewId, atMs, positionSeconds, watched, rewatched, language, subtitle } = event
  if (!UUID.test(viewId)) return { reason: 'bad_view', message: 'view_id: must be a UUID' }
  if (type === 0) return { reason: 'bad_type', message: 'type: must be load, play, progress or ended' }
  if (!Number.isFinite(atMs)) return { reason: 'bad_time', message: 'at: must be milliseconds since 1970' }
  if (atMs < nowMs - DAY_MS) return TOO_OLD
  if (atMs > nowMs + AHEAD_MS) return { reason: 'in_future', message: 'at: is more than 5 minutes ahead' }
  if (positionSeconds !== undefined && !isPoint(positionSeconds)) {
    return { reason: 'bad_position', message: 'position: must be seconds, 0 or more' }
  }
  return (
    findIntervalFault('watched', watched) ??
    findIntervalFault('rewatched', rewatched) ??
    findLanguageFault('language', language) ??
    findLanguageFault('subtitle', subtitle) ??
    findQualityFault(event.quality)
  )
}

function findIntervalFault(name: string, intervals: ToldEvent['watched']): Rejection | undefined {
  if (intervals.length > MOST_INTERVALS) return { reason: 'bad_interval', message: `${name}: must have at most 1,000 intervals` }
  if (intervals.every(({ fromSeconds: from, toSeconds: to }) => isPoint(from) && isPoint(to) && from <= to)) return undefined
  return { reason: 'bad_interval', message: `${name}: must be intervals [from, to] of seconds, 0 <= from <= to` }
}

function findLanguageFault(name: string, text: string): Rejection | undefined {
  if (LANGUAGE.test(text)) return undefined
  return { reason: 'bad_language', message: `${name}: must have at most 35 letters, digits and hyphens` }
}

function findQualityFault(quality: ToldEvent['quality']): Rejection | undefined {
  if (!quality) return undefined
  const { startupMs = 0, stalls, stalledMs, error } = quality
  const fault = (what: string) => ({ reason: 'bad_quality', message: `qoe: ${what}` })
  if (!within(startupMs, 3_600_000)) return fault('startup_ms must be 0 to 3,600,000')
  if (!within(stalls, 1_000_000)) return fault('stalls must be 0 to 1,000,000')
  if (!within(stalledMs, DAY_MS)) return fault('stalled_ms must be 0 to 86,400,000')
  if (error.length > 100 || error.includes('\0') || !error.isWellFormed()) return fault('error must be a text of at most 100 characters')
  return undefined
}

/** The event as it is kept; times become whole milliseconds. */
export function keep(
  event: ToldEvent,
  by: { organisationId: string; durationMs: number; receivedMs: number; visitor: string | undefined },
): KeptEvent {
  const { positionSeconds, quality } = event
  return {
    ...by,
    videoId: event.videoId,
    viewId: event.viewId.toLowerCase(),
    type: event.type,
    atMs: Math.trunc(event.atMs),
    positionMs: positionSeconds === undefined ? undefined : toMs(positionSeconds),
    watched: pairs(event.watched),
    rewatched: pairs(event.rewatched),
    language: event.language,
    subtitle: event.subtitle,
    quality: quality && {
      startupMs: quality.startupMs === undefined ? undefined : Math.round(quality.startupMs),
      stalls: Math.round(quality.stalls),
      stalledMs: Math.round(quality.stalledMs),
    },
    error: quality?.error ?? '',
  }
}

function pairs(intervals: ToldEvent['watched']): number[] {
  const points: number[] = []
  for (const { fromSeconds, toSeconds } of intervals) points.push(toMs(fromSeconds), toMs(toSeconds))
  return points
}

function toMs(seconds: number): number {
  return Math.round(Math.min(seconds, LONGEST) * 1000)
}

/** Infinity, too, is behind the end. */
function isPoint(seconds: number): boolean {
  return seconds >= 0
}

function within(value: number, most: number): boolean {
  return value >= 0 && value <= most
}
