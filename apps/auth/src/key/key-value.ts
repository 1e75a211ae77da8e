import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 32
/** 62^6 exceeds the 2^32 values of the checksum. */
const CHECKSUM_CHARACTERS = 6
const GENERATED_KEY = /^vs_[0-9A-Za-z]{38}$/

/** Returns a new key value: `vs_`, 32 random base-62 characters, and a checksum of 6. */
export function makeKeyValue(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => DIGITS[randomInt(DIGITS.length)]).join('')
  return `vs_${random}${computeChecksum(random)}`
}

/**
 * Returns whether a value has the form and checksum of a generated key. Other values
 * are rejected without a query. The checksum is not secret.
 */
export function isKeyValue(value: string): boolean {
  return GENERATED_KEY.test(value) && computeChecksum(value.slice(3, 3 + RANDOM_CHARACTERS)) === value.slice(3 + RANDOM_CHARACTERS)
}

/** Returns whether a value has a valid form for VITASCOPE_SYSTEM_KEY. */
export function hasConfiguredKeyForm(value: string): boolean {
  return /^[A-Za-z0-9_-]{20,128}$/.test(value)
}

function computeChecksum(text: string): string {
  let remainder = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_CHARACTERS) {
    digits = DIGITS[remainder % DIGITS.length] + digits
    remainder = Math.floor(remainder / DIGITS.length)
  }
  return digits
}
