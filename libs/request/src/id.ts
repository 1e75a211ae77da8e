const MAX_ID = 2n ** 63n - 1n

/**
 * Returns whether the text is a valid id: an integer from 1 to 2^63-1, the range of a bigint. Ids
 * have one notation only, without sign, space or leading zero.
 */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= MAX_ID
}

/** Returns whether the text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
}
