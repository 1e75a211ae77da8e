import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** False for what cannot be a key, so that it needs no look-up: ours carry a checksum, the configured system key has a form of its own. */
export function hasKeyForm(text: string): boolean {
  const [, random, check] = /^vs_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text) ?? []
  if (random !== undefined) return checksum(random) === check
  return /^[A-Za-z0-9_-]{20,128}$/.test(text)
}

/** CRC-32 in six base-62 digits; no secret, it only tells slips of the pen and junk apart from keys. */
export function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < 6) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
