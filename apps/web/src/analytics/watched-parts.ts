import { type Interval, intersect, mergeIntervals } from './intervals.ts'

/** Ranges that were played since the last call of `takeParts`. */
export interface PlayedParts {
  watched: Interval[]
  /** Ranges of `watched` that had already been played earlier in this view. */
  rewatched: Interval[]
}

/** Records which seconds of a video are played. Seeks do not count. */
export interface PartsRecorder {
  /** Starts to count at this position, where the picture begins to move. */
  begin(position: number): void
  /**
   * Counts the seconds up to this position, which playback has reached. `max` is the number of
   * seconds that it can have advanced since the last call. A larger step is a seek and does not
   * count.
   */
  advance(position: number, max: number): void
  /** Stops to count until the next `begin`, because playback stops or seeks. */
  stop(): void
  readonly isPlaying: boolean
  takeParts(): PlayedParts
}

export function createPartsRecorder(): PartsRecorder {
  let lastPosition: number | undefined
  let watchedEarlier: Interval[] = []
  let watched: Interval[] = []
  let rewatched: Interval[] = []
  return {
    begin(position) {
      lastPosition = position
    },
    advance(position, max) {
      if (lastPosition === undefined) return
      if (position > lastPosition && position - lastPosition <= max) {
        const playedRange: Interval = [lastPosition, position]
        rewatched = mergeIntervals([...rewatched, ...intersect(playedRange, watchedEarlier)])
        watched = mergeIntervals([...watched, playedRange])
        watchedEarlier = mergeIntervals([...watchedEarlier, playedRange])
      }
      lastPosition = position
    },
    stop() {
      lastPosition = undefined
    },
    get isPlaying() {
      return lastPosition !== undefined
    },
    takeParts() {
      const parts = { watched, rewatched }
      watched = []
      rewatched = []
      return parts
    },
  }
}
