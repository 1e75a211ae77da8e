/** Long runs take figures: their limits are those figures. */
const times = process.env['VITASCOPE_LONG_TESTS'] === '1' ? 1 : 4

/** Milliseconds beyond which nothing is made longer. */
const most = 300_000

/**
 * The milliseconds that a test, a hook or a wait may really take: in an ordinary run four times what it says, so that what its limit ends is what hangs,
 * and a machine that is slow or busy fails no test.
 */
export function patient(milliseconds: number): number {
  return Math.max(milliseconds, Math.min(milliseconds * times, most))
}
