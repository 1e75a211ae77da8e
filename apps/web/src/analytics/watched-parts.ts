import { type Interval, intersect, union } from './intervals.ts'

/** Ranges that were played since the last call of `take`. */
export interface PlayedParts {
  watched: Interval[]
  /** Ranges of `watched` that had already been played earlier in this view. */
  rewatched: Interval[]
}

/** Records which seconds of a video are played. Seeks do not count. */
export interface WatchedParts {
  /** The picture moves from this position on. */
  begin(position: number): void
  /**
   * Playback has reached this position. `max` is the number of seconds that it can have advanced
   * since the last call. A larger step is a seek and does not count.
   */
  advance(position: number, max: number): void
  /** Playback stops or seeks. Nothing counts until the next `begin`. */
  stop(): void
  readonly isPlaying: boolean
  take(): PlayedParts
}

export function recordWatchedParts(): WatchedParts {
  let at: number | undefined
  let all: Interval[] = []
  let watched: Interval[] = []
  let rewatched: Interval[] = []
  return {
    begin(position) {
      at = position
    },
    advance(position, max) {
      if (at === undefined) return
      if (position > at && position - at <= max) {
        const played: Interval = [at, position]
        rewatched = union([...rewatched, ...intersect(played, all)])
        watched = union([...watched, played])
        all = union([...all, played])
      }
      at = position
    },
    stop() {
      at = undefined
    },
    get isPlaying() {
      return at !== undefined
    },
    take() {
      const taken = { watched, rewatched }
      watched = []
      rewatched = []
      return taken
    },
  }
}
