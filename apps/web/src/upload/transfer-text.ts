/** Period over which the rate is measured. */
const RATE_WINDOW_MS = 8_000
/** A rate is computed only over at least this time. */
const MIN_RATE_MS = 500

/** Formats bytes in decimal units: `830 kB`, `12.4 MB`, `3.21 GB`. */
export function formatBytes(bytes: number): string {
  const kilobytes = Math.ceil(bytes / 1e3)
  if (kilobytes < 1_000) return `${kilobytes} kB`
  const megabytes = (bytes / 1e6).toFixed(1)
  return Number(megabytes) < 1_000 ? `${megabytes} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/**
 * Formats the progress of a transfer: `12.4 MB of 98.1 MB, about 3 minutes left`. `rate` is in
 * bytes per second. If it is 0, the remaining time is unknown and omitted.
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
 * Returns a function that receives the number of sent bytes and the time in milliseconds, and
 * returns the bytes per second over the last 8 s. It returns 0 until 0.5 s after its first call and
 * after an interruption. Bytes before its first call do not count.
 */
export function createRateMeter(): (bytes: number, atMs: number) => number {
  const samples: { bytes: number; atMs: number }[] = []
  return (bytes, atMs) => {
    // After an interruption, bytes in flight are sent again and the count decreases.
    if (bytes < (samples.at(-1)?.bytes ?? 0)) samples.length = 0
    samples.push({ bytes, atMs })
    while (samples.length > 2 && atMs - (samples[0]?.atMs ?? 0) > RATE_WINDOW_MS) samples.shift()
    const first = samples[0] ?? { bytes, atMs }
    return atMs - first.atMs < MIN_RATE_MS ? 0 : ((bytes - first.bytes) * 1_000) / (atMs - first.atMs)
  }
}
