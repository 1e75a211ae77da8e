import { randomBytes } from 'node:crypto'
import { isId } from '@vitascope/postgres'

const MAX_ID = 2n ** 63n - 1n

/**
 * Returns the id, or undefined if the text is not an id. Ids have one notation only, without sign,
 * space or leading zero.
 */
export function parseId(text: string): string | undefined {
  return isId(text) ? text : undefined
}

/** Returns an id that cannot be guessed, from 1 to 2^63-1. */
export function newRandomId(): string {
  const id = randomBytes(8).readBigUInt64BE() & MAX_ID
  return id === 0n ? newRandomId() : id.toString()
}
