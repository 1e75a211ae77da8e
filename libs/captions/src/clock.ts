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

function padded(value: number): string {
  return String(value).padStart(2, '0')
}
