/** `MM:SS`, cut off; the minutes may pass 59. */
export function minuteText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return `${padded(Math.floor(seconds / 60))}:${padded(seconds % 60)}`
}

/** `HH:MM:SS.mmm`. */
export function clockText(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.floor(ms / 1_000) % 60
  return `${padded(Math.floor(minutes / 60))}:${padded(minutes % 60)}:${padded(seconds)}.${String(ms % 1_000).padStart(3, '0')}`
}

/** Milliseconds of what a clock shows; an absent part is none. */
export function clockMs(hours: string | undefined, minutes: string | undefined, seconds: string | undefined, ms: number): number {
  return ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000 + ms
}

/** `.5` and `.500` are half a second. */
export function fractionMs(digits: string | undefined): number {
  return Number((digits ?? '').padEnd(3, '0').slice(0, 3))
}

function padded(value: number): string {
  return String(value).padStart(2, '0')
}
