/** What a viewer did, as a test intends it; times in seconds. The counts are those of the contract's words, seen naively. */
export interface IntendedView {
  viewId: string
  videoId: string
  duration: number
  viewer: string
  /** The furthest point, where neither the intervals nor the end tell of it. */
  furthest?: number
  /** When the player was shown, milliseconds since 1970. */
  startMs: number
  played: boolean
  ended: boolean
  watched: readonly (readonly [number, number])[]
  rewatched: readonly (readonly [number, number])[]
  language: string
  subtitle: string
  quality: { startupMs: number | undefined; stalls: number; stalledMs: number; error: string } | undefined
  /** When it played, each on some day. */
  playedMs: readonly number[]
}

export const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length)

/** Points lie on whole milliseconds and edges on halves: what is nearer than this is the same. */
const SAME = 1e-6
const furthest = (view: IntendedView) => view.furthest ?? (view.ended ? view.duration : Math.max(0, ...view.watched.map(([, to]) => to)))
const overlaps = (parts: IntendedView['watched'], from: number, to: number) =>
  parts.some(([a, b]) => a < b && a < to - SAME && b > from + SAME)

/** The content of an event, and the length that its video had then. The length is 0 while it is not known. */
export interface SentEvent {
  duration: number
  ended: boolean
  watched: IntendedView['watched']
  rewatched: IntendedView['watched']
}

/** What events tell of a view that is seen as one of a video of a given length: of another length, they tell of whole cells, and the end is its. */
export function seenAs(
  duration: number,
  received: readonly SentEvent[],
): Pick<IntendedView, 'watched' | 'rewatched' | 'furthest' | 'ended'> {
  const spans = (name: 'watched' | 'rewatched') =>
    received.flatMap((one) => {
      const end = one.duration === 0 ? 1_000 : one.duration
      return cut(one[name], end).flatMap(([from, to]) =>
        one.duration === duration ? [[from, to] as const] : cut([wholeCells(from, to, end)], duration),
      )
    })
  const ends = received.map((one) => {
    const last = Math.max(0, ...one.watched.map(([, to]) => to))
    return Math.min(duration, one.duration === 0 ? last : one.ended ? one.duration : Math.min(last, one.duration))
  })
  return { watched: spans('watched'), rewatched: spans('rewatched'), furthest: Math.max(0, ...ends), ended: false }
}

const cut = (parts: IntendedView['watched'], end: number) =>
  parts.flatMap(([from, to]) => (from < Math.min(to, end) ? [[from, Math.min(to, end)] as const] : []))
function wholeCells(from: number, to: number, duration: number): readonly [number, number] {
  const length = cellSeconds(duration)
  return [Math.floor(from / length + SAME) * length, Math.min(Math.ceil(to / length - SAME) * length, duration)]
}

/** The counters of some views. */
export function countsOf(views: readonly IntendedView[]) {
  const played = views.filter((view) => view.played)
  return {
    playerLoads: views.length,
    videoPlays: played.length,
    completeViews: played.filter((view) => furthest(view) >= view.duration * 0.95 - SAME).length,
    bouncedViews: played.filter((view) => furthest(view) <= view.duration * 0.1 + SAME).length,
  }
}

/** Views that any moment of each of the buckets of 5 % was watched by, and whose furthest point lies in it. */
export function bucketsOf(views: readonly IntendedView[]) {
  const played = views.filter((view) => view.played)
  const buckets = Array.from({ length: 20 }, (_, nth) => nth)
  const edge = (view: IntendedView, nth: number) => (view.duration * nth) / 20
  return {
    viewsPerDuration: [
      ...buckets.map((nth) => played.filter((view) => overlaps(view.watched, edge(view, nth), edge(view, nth + 1))).length),
      played.filter((view) => furthest(view) >= view.duration).length,
    ],
    maxPercentageViewed: [
      ...buckets.map(
        (nth) => played.filter((view) => furthest(view) >= edge(view, nth) - SAME && furthest(view) < edge(view, nth + 1) - SAME).length,
      ),
      played.filter((view) => furthest(view) >= view.duration).length,
    ],
  }
}

const cellSeconds = (duration: number) => Math.max(1, duration / 1000)
const cellsOf = (duration: number) =>
  Array.from({ length: Math.ceil(duration / cellSeconds(duration) - 1e-9) }, (_, nth) => ({
    from: nth * cellSeconds(duration),
    to: Math.min((nth + 1) * cellSeconds(duration), duration),
  }))

/** Seconds, of distinct cells touched. */
const viewedSeconds = ({ duration, watched }: IntendedView) =>
  sum(cellsOf(duration).flatMap(({ from, to }) => (overlaps(watched, from, to) ? [to - from] : [])))

export function averagesOf(views: readonly IntendedView[]) {
  const played = views.filter((view) => view.played)
  return {
    averageViewingTime: mean(played.map(viewedSeconds)),
    averagePercentageViewed: mean(played.map((view) => (100 * viewedSeconds(view)) / view.duration)),
  }
}

/** Returns the counts of the views of one video. */
export function heatOf(views: readonly IntendedView[], duration: number) {
  const played = views.filter((view) => view.played)
  const count = (parts: 'watched' | 'rewatched') =>
    cellsOf(duration).map(({ from, to }) => played.filter((view) => overlaps(view[parts], from, to)).length)
  return { cellSeconds: cellSeconds(duration), watched: count('watched'), rewatched: count('rewatched') }
}

export function qualityOf(views: readonly IntendedView[]) {
  const measured = views.flatMap(({ quality }) => quality ?? [])
  const started = measured.flatMap(({ startupMs }) => startupMs ?? [])
  return {
    views: measured.length,
    startedViews: started.length,
    averageStartupMs: Math.round(100 * mean(started)) / 100,
    stalledViews: measured.filter(({ stalls }) => stalls > 0).length,
    stalls: sum(measured.map(({ stalls }) => stalls)),
    stalledMs: sum(measured.map(({ stalledMs }) => stalledMs)),
    errorViews: measured.filter(({ error }) => error !== '').length,
  }
}

/** By the day on which they played. */
export function viewersOf(views: readonly IntendedView[]): { day: string; uniqueViewers: number }[] {
  const seen = new Set(views.flatMap(({ viewer, playedMs }) => playedMs.map((ms) => `${dayOf(ms)} ${viewer}`)))
  const days = [...seen].map((one) => one.slice(0, 10))
  return [...new Set(days)].sort().map((day) => ({ day, uniqueViewers: days.filter((one) => one === day).length }))
}

/** The views of each day, the oldest first. */
export function byDay(views: readonly IntendedView[]): { day: string; views: IntendedView[] }[] {
  return [...Map.groupBy(views, ({ startMs }) => dayOf(startMs))].sort().map(([day, some]) => ({ day, views: some }))
}
