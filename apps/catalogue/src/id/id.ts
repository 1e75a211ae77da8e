import { randomBytes } from 'node:crypto'
import { isId } from '@vitascope/postgres'

const LARGEST = 2n ** 63n - 1n

/** The id in a text, or undefined for one that cannot exist: ids are written in one way only, without sign, space or leading zero. */
export function parseId(text: string): string | undefined {
  return isId(text) ? text : undefined
}

/** An id that cannot be guessed: 1 to 2^63-1. */
export function newRandomId(): string {
  const id = randomBytes(8).readBigUInt64BE() & LARGEST
  return id === 0n ? newRandomId() : id.toString()
}
