import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 32
/** 62^6 exceeds the 2^32 values of the checksum. */
const CHECKSUM_CHARACTERS = 6
const FORM = /^vs_[0-9A-Za-z]{38}$/

/** Returns a new key value: `vs_`, 32 random base-62 characters, and a checksum of 6. */
export function makeKeyValue(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => DIGITS[randomInt(DIGITS.length)]).join('')
  return `vs_${random}${checksum(random)}`
}

/**
 * Returns whether a value has the form and checksum of a generated key. Other values need no
 * lookup. The checksum is not secret.
 */
export function isKeyValue(value: string): boolean {
  return FORM.test(value) && checksum(value.slice(3, 3 + RANDOM_CHARACTERS)) === value.slice(3 + RANDOM_CHARACTERS)
}

/** Returns whether a value has a valid form for VITASCOPE_SYSTEM_KEY. */
export function isConfiguredForm(value: string): boolean {
  return /^[A-Za-z0-9_-]{20,128}$/.test(value)
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_CHARACTERS) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
