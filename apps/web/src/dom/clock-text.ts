/** Formats seconds as `4:07` or `1:02:03`. */
export function formatClock(seconds: number): string {
  const totalSeconds = Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds) : 0
  const [h, m, s] = [Math.floor(totalSeconds / 3600), Math.floor(totalSeconds / 60) % 60, totalSeconds % 60]
  const padTwoDigits = (part: number) => String(part).padStart(2, '0')
  return h > 0 ? `${h}:${padTwoDigits(m)}:${padTwoDigits(s)}` : `${m}:${padTwoDigits(s)}`
}

/**
 * Formats a duration, rounded to seconds, because the durations that players and servers measure
 * differ by a few hundredths of a second.
 */
export function formatDuration(seconds: number): string {
  return formatClock(Math.round(seconds))
}
