export interface Backoff {
  /** Maximum pause after the first failure. */
  minMs: number
  /** Maximum pause. */
  maxMs: number
}

/**
 * Returns the pause in milliseconds after `failures` failures in a row: up to `minMs` after the
 * first, doubling to `maxMs`. The pause is reduced by a random part of up to one half, so that
 * callers that failed at the same time do not retry at the same time.
 */
export function backoffMs(failures: number, { minMs, maxMs }: Backoff): number {
  const pause = Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)))
  return pause * (0.5 + Math.random() / 2)
}
