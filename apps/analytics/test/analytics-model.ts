/**
 * A view that a test plays. Positions and durations are in seconds. The functions of this file
 * compute the expected counts directly from the definitions of the counts.
 */
export interface ModelView {
  viewId: string
  videoId: string
  duration: number
  viewer: string
  /** The furthest position. Default: the end of the video or of the last watched interval. */
  furthest?: number
  /** Time at which the player was loaded, in milliseconds since 1970. */
  startMs: number
  played: boolean
  ended: boolean
  watched: readonly (readonly [number, number])[]
  rewatched: readonly (readonly [number, number])[]
  language: string
  subtitle: string
  device: string
  referrer: string
  quality: { startupMs: number | undefined; stalls: number; stalledMs: number; switches: number; error: string } | undefined
  /** Times of the events that were sent while it played, in milliseconds since 1970. */
  playedMs: readonly number[]
}

export const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length)

/** Tolerance in seconds. Positions are whole milliseconds and edges are half milliseconds, so closer values are equal. */
const TOLERANCE = 1e-6
const computeFurthest = (view: ModelView) =>
  view.furthest ?? (view.ended ? view.duration : Math.max(0, ...view.watched.map(([, to]) => to)))
const overlaps = (parts: ModelView['watched'], from: number, to: number) =>
  parts.some(([a, b]) => a < b && a < to - TOLERANCE && b > from + TOLERANCE)

/** The content of an event, and the duration of its video at that time. The duration is 0 while it is unknown. */
export interface SentEvent {
  duration: number
  ended: boolean
  watched: ModelView['watched']
  rewatched: ModelView['watched']
}

/**
 * Returns the watched parts of a view of a video with this duration. Parts of events with another
 * duration are rounded to whole cells, and end at that duration.
 */
export function computeWatchedParts(
  duration: number,
  received: readonly SentEvent[],
): Pick<ModelView, 'watched' | 'rewatched' | 'furthest' | 'ended'> {
  const spans = (name: 'watched' | 'rewatched') =>
    received.flatMap((one) => {
      const end = one.duration === 0 ? 1_000 : one.duration
      return clipIntervals(one[name], end).flatMap(([from, to]) =>
        one.duration === duration ? [[from, to] as const] : clipIntervals([wholeCells(from, to, end)], duration),
      )
    })
  const ends = received.map((one) => {
    const last = Math.max(0, ...one.watched.map(([, to]) => to))
    return Math.min(duration, one.duration === 0 ? last : one.ended ? one.duration : Math.min(last, one.duration))
  })
  return { watched: spans('watched'), rewatched: spans('rewatched'), furthest: Math.max(0, ...ends), ended: false }
}

const clipIntervals = (parts: ModelView['watched'], end: number) =>
  parts.flatMap(([from, to]) => (from < Math.min(to, end) ? [[from, Math.min(to, end)] as const] : []))
function wholeCells(from: number, to: number, duration: number): readonly [number, number] {
  const length = cellSeconds(duration)
  return [Math.floor(from / length + TOLERANCE) * length, Math.min(Math.ceil(to / length - TOLERANCE) * length, duration)]
}

/** Returns the counts of views. */
export function countViews(views: readonly ModelView[]) {
  const played = views.filter((view) => view.played)
  return {
    playerLoads: views.length,
    videoPlays: played.length,
    completeViews: played.filter((view) => computeFurthest(view) >= view.duration * 0.95 - TOLERANCE).length,
    bouncedViews: played.filter((view) => computeFurthest(view) <= view.duration * 0.1 + TOLERANCE).length,
  }
}

/** Returns, for each bucket of 5 %, the views that watched a part of it, and the views whose furthest point is in it. */
export function computeBuckets(views: readonly ModelView[]) {
  const played = views.filter((view) => view.played)
  const buckets = Array.from({ length: 20 }, (_, nth) => nth)
  const edge = (view: ModelView, nth: number) => (view.duration * nth) / 20
  return {
    viewsPerDuration: [
      ...buckets.map((nth) => played.filter((view) => overlaps(view.watched, edge(view, nth), edge(view, nth + 1))).length),
      played.filter((view) => computeFurthest(view) >= view.duration).length,
    ],
    maxPercentageViewed: [
      ...buckets.map(
        (nth) =>
          played.filter(
            (view) => computeFurthest(view) >= edge(view, nth) - TOLERANCE && computeFurthest(view) < edge(view, nth + 1) - TOLERANCE,
          ).length,
      ),
      played.filter((view) => computeFurthest(view) >= view.duration).length,
    ],
  }
}

const cellSeconds = (duration: number) => Math.max(1, duration / 1000)
const computeCells = (duration: number) =>
  Array.from({ length: Math.ceil(duration / cellSeconds(duration) - 1e-9) }, (_, nth) => ({
    from: nth * cellSeconds(duration),
    to: Math.min((nth + 1) * cellSeconds(duration), duration),
  }))

/** Returns the total length of the distinct cells that were watched. */
const viewedSeconds = ({ duration, watched }: ModelView) =>
  sum(computeCells(duration).flatMap(({ from, to }) => (overlaps(watched, from, to) ? [to - from] : [])))

export function computeAverages(views: readonly ModelView[]) {
  const played = views.filter((view) => view.played)
  return {
    averageViewingTime: mean(played.map(viewedSeconds)),
    averagePercentageViewed: mean(played.map((view) => (100 * viewedSeconds(view)) / view.duration)),
  }
}

/** Returns, for each cell of the video, how many views watched and rewatched it. */
export function computeHeat(views: readonly ModelView[], duration: number) {
  const played = views.filter((view) => view.played)
  const count = (parts: 'watched' | 'rewatched') =>
    computeCells(duration).map(({ from, to }) => played.filter((view) => overlaps(view[parts], from, to)).length)
  return { cellSeconds: cellSeconds(duration), watched: count('watched'), rewatched: count('rewatched') }
}

export function computeQuality(views: readonly ModelView[]) {
  const measured = views.flatMap(({ quality }) => quality ?? [])
  const started = measured.flatMap(({ startupMs }) => startupMs ?? [])
  return {
    views: measured.length,
    startedViews: started.length,
    averageStartupMs: Math.round(100 * mean(started)) / 100,
    stalledViews: measured.filter(({ stalls }) => stalls > 0).length,
    stalls: sum(measured.map(({ stalls }) => stalls)),
    stalledMs: sum(measured.map(({ stalledMs }) => stalledMs)),
    switches: sum(measured.map(({ switches }) => switches)),
    errorViews: measured.filter(({ error }) => error !== '').length,
  }
}

/** Returns the number of viewers per day on which they played. */
export function countViewers(views: readonly ModelView[]): { day: string; uniqueViewers: number }[] {
  const seen = new Set(views.flatMap(({ viewer, playedMs }) => playedMs.map((ms) => `${toDay(ms)} ${viewer}`)))
  const days = [...seen].map((one) => one.slice(0, 10))
  return [...new Set(days)].sort().map((day) => ({ day, uniqueViewers: days.filter((one) => one === day).length }))
}

/** Returns the views of each day, the oldest day first. */
export function byDay(views: readonly ModelView[]): { day: string; views: ModelView[] }[] {
  return [...Map.groupBy(views, ({ startMs }) => toDay(startMs))].sort().map(([day, some]) => ({ day, views: some }))
}
