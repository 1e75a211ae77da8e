/** True in `npm run test:long`, which runs more cases of slow tests, and larger ones. */
export const isLongRun = process.env['VITASCOPE_LONG_TESTS'] === '1'

/** Long runs measure performance, so their timeouts are not extended. */
const FACTOR = isLongRun ? 1 : 4

/** Timeouts are extended to this many milliseconds at most. */
const MAX_TIMEOUT_MS = 300_000

/**
 * Returns the timeout of a test, a hook or a wait in milliseconds. In an ordinary run it is four times the
 * argument, so that only hanging tests exceed it and a slow or busy machine fails no test.
 */
export function extendTimeout(milliseconds: number): number {
  return Math.max(milliseconds, Math.min(milliseconds * FACTOR, MAX_TIMEOUT_MS))
}
