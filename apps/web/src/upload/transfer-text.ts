/** Formats bytes: `830 kB`, `12.4 MB`, `3.21 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/**
 * Formats the progress of a transfer: `12.4 MB of 98.1 MB, about 3 minutes left`. `rate` is in
 * bytes per second, or 0 if it is unknown.
 */
export function formatTransfer(sent: number, total: number, rate: number): string {
  const sizes = `${formatBytes(sent)} of ${formatBytes(total)}`
  const remainingSeconds = rate > 0 ? (total - sent) / rate : 0
  return remainingSeconds >= 1 ? `${sizes}, about ${formatTime(remainingSeconds)} left` : sizes
}

function formatTime(seconds: number): string {
  if (seconds < 55) return formatCount(Math.ceil(seconds / 5) * 5, 'second')
  return seconds < 5_400 ? formatCount(Math.round(seconds / 60), 'minute') : formatCount(Number((seconds / 3_600).toFixed(1)), 'hour')
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * Returns a function that computes bytes per second over the last few seconds. Bytes that were
 * sent before the page was opened do not count.
 */
export function createRateMeter(): (bytes: number, atMs: number) => number {
  const samples: { bytes: number; atMs: number }[] = []
  return (bytes, atMs) => {
    // After an interruption, bytes in flight are sent again and the count decreases.
    if (bytes < (samples.at(-1)?.bytes ?? 0)) samples.length = 0
    samples.push({ bytes, atMs })
    while (samples.length > 2 && atMs - (samples[0]?.atMs ?? 0) > 8_000) samples.shift()
    const first = samples[0] ?? { bytes, atMs }
    return atMs - first.atMs < 500 ? 0 : ((bytes - first.bytes) * 1_000) / (atMs - first.atMs)
  }
}
