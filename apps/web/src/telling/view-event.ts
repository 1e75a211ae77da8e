import { type Interval, union } from './intervals.ts'
import type { Quality } from './playback-quality.ts'

/** One event of a view, as `POST /v2/analytics/events` takes it. */
export interface ViewEvent {
  video_id: string
  view_id: string
  type: 'load' | 'play' | 'progress' | 'ended'
  /** Milliseconds since 1970. */
  at: number
  position?: number
  watched?: readonly Interval[]
  rewatched?: readonly Interval[]
  language?: string
  subtitle?: string
  qoe?: Quality
}

/** Parts of one event at most: a request of many events stays within what the server reads. */
const mostParts = 100

/** Without what is empty, in milliseconds: what nobody needs to know is not sent. */
export function tidy(event: ViewEvent): ViewEvent {
  const { watched = [], rewatched = [], language, subtitle, qoe, position, ...rest } = event
  return {
    ...rest,
    ...(position !== undefined && { position: toMilliseconds(position) }),
    ...(watched.length > 0 && { watched: partsOf(watched) }),
    ...(rewatched.length > 0 && { rewatched: partsOf(rewatched) }),
    ...(language && { language }),
    ...(subtitle && { subtitle }),
    ...(qoe && Object.keys(qoe).length > 0 && { qoe }),
  }
}

/** Two of one view, told as the later one: counts are merged from parts, so nothing is lost. */
export function merged(earlier: ViewEvent, later: ViewEvent): ViewEvent {
  return tidy({
    ...earlier,
    ...later,
    position: Math.max(earlier.position ?? 0, later.position ?? 0),
    watched: union([...(earlier.watched ?? []), ...(later.watched ?? [])]),
    rewatched: union([...(earlier.rewatched ?? []), ...(later.rewatched ?? [])]),
  })
}

function partsOf(parts: readonly Interval[]): Interval[] {
  return parts.slice(0, mostParts).map(([from, to]) => [toMilliseconds(from), toMilliseconds(to)])
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000
}
