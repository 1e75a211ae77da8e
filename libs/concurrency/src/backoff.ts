export interface Backoff {
  /** Maximum pause after the first failure. */
  minMs: number
  /** Maximum pause. */
  maxMs: number
}

/**
 * Returns the pause in milliseconds after `failures` failures in a row: up to `minMs` after the
 * first, doubling to `maxMs`. The random half keeps callers that failed together from retrying
 * together.
 */
export function backoffMs(failures: number, { minMs, maxMs }: Backoff): number {
  const pause = Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)))
  return pause * (0.5 + Math.random() / 2)
}
