import { type Interval, mergeIntervals } from './intervals.ts'
import type { Quality } from './playback-quality.ts'

/** One event of a view, as `POST /v2/analytics/events` accepts it. */
export interface ViewEvent {
  video_id: string
  view_id: string
  type: 'load' | 'play' | 'progress' | 'ended'
  /** Milliseconds since 1970. */
  at: number
  /** Seconds from the start of the video, as in `watched` and `rewatched`. */
  position?: number
  watched?: readonly Interval[]
  rewatched?: readonly Interval[]
  language?: string
  subtitle?: string
  /** Host of the page that contains the player or has the link to it. */
  referrer?: string
  qoe?: Quality
}

/**
 * Maximum number of ranges in one event. It keeps a request with many events within the body limit
 * of the server.
 */
const MAX_RANGES = 100

/** Rounds times to milliseconds, drops ranges above `MAX_RANGES`, and removes empty fields. */
export function normaliseEvent(event: ViewEvent): ViewEvent {
  const { watched = [], rewatched = [], language, subtitle, referrer, qoe, position, ...rest } = event
  return {
    ...rest,
    ...(position !== undefined && { position: roundToMilliseconds(position) }),
    ...(watched.length > 0 && { watched: toRanges(watched) }),
    ...(rewatched.length > 0 && { rewatched: toRanges(rewatched) }),
    ...(language && { language }),
    ...(subtitle && { subtitle }),
    ...(referrer && { referrer }),
    ...(qoe && Object.keys(qoe).length > 0 && { qoe }),
  }
}

/**
 * Merges two events of one view into the later one. The server computes its counts from the ranges,
 * so the merged event has the same effect on them as both events.
 */
export function mergeEvents(earlier: ViewEvent, later: ViewEvent): ViewEvent {
  return normaliseEvent({
    ...earlier,
    ...later,
    position: Math.max(earlier.position ?? 0, later.position ?? 0),
    watched: mergeIntervals([...(earlier.watched ?? []), ...(later.watched ?? [])]),
    rewatched: mergeIntervals([...(earlier.rewatched ?? []), ...(later.rewatched ?? [])]),
  })
}

function toRanges(intervals: readonly Interval[]): Interval[] {
  return intervals.slice(0, MAX_RANGES).map(([from, to]) => [roundToMilliseconds(from), roundToMilliseconds(to)])
}

function roundToMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000
}
