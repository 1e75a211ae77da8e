const LARGEST = 2n ** 63n - 1n

/** True for what a column of ids (bigint, from 1 on) may hold: ids are written in one way only, without sign, space or leading zero. */
export function isId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= LARGEST
}
