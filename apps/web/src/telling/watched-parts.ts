import { type Interval, union, within } from './intervals.ts'

/** What was played since it was asked last. */
export interface PlayedParts {
  watched: Interval[]
  /** Those seconds of it that had been played in this view before. */
  rewatched: Interval[]
}

/** Writes down which seconds of a video are really played: the picture's way from where it begins, never a jump. */
export interface WatchedParts {
  /** The picture moves from here on. */
  begin(position: number): void
  /** It has come to here. `most` is how many seconds it can have moved since it was told last: beyond that it has jumped. */
  advance(position: number, most: number): void
  /** It stands still, or jumps: nothing counts until it begins again. */
  stop(): void
  readonly moves: boolean
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
    advance(position, most) {
      if (at === undefined) return
      if (position > at && position - at <= most) {
        const played: Interval = [at, position]
        rewatched = union([...rewatched, ...within(played, all)])
        watched = union([...watched, played])
        all = union([...all, played])
      }
      at = position
    },
    stop() {
      at = undefined
    },
    get moves() {
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
