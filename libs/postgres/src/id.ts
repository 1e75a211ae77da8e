const MAX_ID = 2n ** 63n - 1n

/**
 * Returns whether the text is a valid id (bigint from 1). Ids have one canonical form, without sign, space or leading
 * zero.
 */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= MAX_ID
}
