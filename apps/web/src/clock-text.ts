/** Formats seconds as `4:07` or `1:02:03`. */
export function clockText(seconds: number): string {
  const whole = Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds) : 0
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const twoDigits = (part: number) => String(part).padStart(2, '0')
  return h > 0 ? `${h}:${twoDigits(m)}:${twoDigits(s)}` : `${m}:${twoDigits(s)}`
}

/**
 * Formats a duration, rounded to seconds: players and servers measure it with a difference of a few
 * hundredths.
 */
export function lengthText(seconds: number): string {
  return clockText(Math.round(seconds))
}
