/** Progress is reported after each part, so a part should take about this time. */
const TARGET_MS = 2_000
const MIN_PART_BYTES = 256 * 2 ** 10
/**
 * The server stores parts of at most this size, and proxies often limit bodies to a little more.
 */
const MAX_PART_BYTES = 16 * 2 ** 20

export const DEFAULT_PART_BYTES = 2 ** 20

/**
 * Returns the size of the next part after `bytes` took `milliseconds`. It at most doubles or
 * halves. After a failed part, `bytes` is 0.
 */
export function nextPartBytes(partBytes: number, bytes: number, milliseconds: number): number {
  const targetBytes = (bytes * TARGET_MS) / Math.max(milliseconds, 1)
  const nextBytes = clamp(targetBytes, partBytes / 2, partBytes * 2)
  return Math.round(clamp(nextBytes, MIN_PART_BYTES, MAX_PART_BYTES))
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
