import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns whether a text has the format of a key. A key in another format is rejected without a
 * lookup. Generated keys end with a checksum. The configured system key has no checksum.
 */
export function hasKeyForm(text: string): boolean {
  const [, random, check] = /^vs_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text) ?? []
  if (random !== undefined) return checksum(random) === check
  return /^[A-Za-z0-9_-]{20,128}$/.test(text)
}

/**
 * Returns the CRC-32 as six base-62 digits. It is not a security measure, it only detects typing
 * errors and junk.
 */
export function checksum(text: string): string {
  let remainder = crc32(text)
  let digits = ''
  while (digits.length < 6) {
    digits = DIGITS[remainder % DIGITS.length] + digits
    remainder = Math.floor(remainder / DIGITS.length)
  }
  return digits
}
