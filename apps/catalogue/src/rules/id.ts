import { randomBytes } from 'node:crypto'

const MAX_ID = 2n ** 63n - 1n

/** Returns an id that cannot be guessed, from 1 to 2^63-1. */
export function newRandomId(): string {
  const id = randomBytes(8).readBigUInt64BE() & MAX_ID
  return id === 0n ? newRandomId() : id.toString()
}
