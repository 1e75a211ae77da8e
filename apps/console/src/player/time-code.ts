const MS_PER_SECOND = 1_000

/** Returns the seconds of a text such as `90`, `1:30`, `1:02:03` or `00:01:30.480`, or undefined if it is none. */
export function parseTimeCode(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds] = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,5}(?:\.\d{1,3})?)$/.exec(text.trim()) ?? []
  if (seconds === undefined) return undefined
  return (Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Math.round(Number(seconds) * MS_PER_SECOND)) / MS_PER_SECOND
}

/** Returns a time such as `00:01:02.480` for seconds. */
export function formatTimeCode(seconds: number): string {
  const ms = Math.round(seconds * MS_PER_SECOND)
  return `${formatSeconds(Math.floor(ms / MS_PER_SECOND))}.${String(ms % MS_PER_SECOND).padStart(3, '0')}`
}

/** Returns a time such as `00:01:02` for whole seconds. */
export function formatSeconds(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/**
 * Returns the time in milliseconds, as seconds. It is rounded up, because a frame starts at or after the rounded-down
 * time, which would be in the frame before. `duration` is the largest result, or 0 if it is unknown.
 */
export function toFrameTime(seconds: number, duration: number): number {
  const ms = Math.ceil(Number((seconds * MS_PER_SECOND).toFixed(3)))
  const max = duration > 0 ? Math.floor(duration * MS_PER_SECOND) : ms
  return Math.min(ms, max) / MS_PER_SECOND
}
