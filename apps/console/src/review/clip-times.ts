import type { Schemas } from '@vitascope/sdk'

export type Clip = Schemas['CollaborationClip']

/** Start and end of a clip in seconds. */
export function readTimes(clip: Clip): { start: number; end: number } {
  return {
    start: (clip.time_start * 1_000 + clip.time_start_millis) / 1_000,
    end: (clip.time_finish * 1_000 + clip.time_finish_millis) / 1_000,
  }
}

/** Returns the fields of a clip for a start and an end in seconds. */
export function toTimeFields(start: number, end: number) {
  const [startMs, endMs] = [Math.round(start * 1_000), Math.round(end * 1_000)]
  return {
    time_start: Math.floor(startMs / 1_000),
    time_start_millis: startMs % 1_000,
    time_finish: Math.floor(endMs / 1_000),
    time_finish_millis: endMs % 1_000,
  }
}

/** Returns the list with one item moved to another position, or undefined if there is no such position. */
export function moveItem<T>(list: readonly T[], from: number, to: number): T[] | undefined {
  const moved = [...list]
  const [item] = moved.splice(from, 1)
  if (item === undefined || to < 0 || to > moved.length) return undefined
  moved.splice(to, 0, item)
  return moved
}

/** A clip without an end is current for this time. */
const MIN_CURRENT_SECONDS = 1

/** Returns true if the clip is about the picture at a time in seconds. */
export function isCurrentAt(clip: Clip, seconds: number): boolean {
  const { start, end } = readTimes(clip)
  return seconds >= start && seconds < Math.max(end, start + MIN_CURRENT_SECONDS)
}
