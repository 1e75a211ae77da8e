import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_CHARACTERS = 32
/** 62^6 is more than the 2^32 values of the checksum. */
const CHECKSUM_CHARACTERS = 6
const FORM = /^vs_[0-9A-Za-z]{38}$/

/** `vs_`, 32 random base-62 characters, and 6 that check them. */
export function makeKeyValue(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => DIGITS[randomInt(DIGITS.length)]).join('')
  return `vs_${random}${checksum(random)}`
}

/** True for a value that we may have made: anything else needs no look-up. The checksum is no secret. */
export function isKeyValue(value: string): boolean {
  return FORM.test(value) && checksum(value.slice(3, 3 + RANDOM_CHARACTERS)) === value.slice(3 + RANDOM_CHARACTERS)
}

/** What VITASCOPE_SYSTEM_KEY may be. */
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
