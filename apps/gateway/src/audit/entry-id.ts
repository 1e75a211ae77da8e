import { randomBytes } from 'node:crypto'

const COUNTS = 0x1000

/** Makes UUIDs of version 7: milliseconds since 1970, then a count within them, so that the ids of one process stand in their order. */
export function createEntryIds(now: () => number = Date.now): () => string {
  let last = 0
  let count = 0
  return () => {
    const time = now()
    if (time > last) {
      last = time
      count = 0
    } else if (++count === COUNTS) {
      // A clock that went back, or more than a count holds: the order counts for more than a millisecond.
      last++
      count = 0
    }
    const bytes = randomBytes(16)
    bytes.writeUIntBE(last, 0, 6)
    bytes.writeUInt16BE(0x7000 | count, 6)
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}

/** When an entry was made. */
export function timeOfEntry(entryId: string): Date {
  return new Date(Number.parseInt(entryId.replace('-', '').slice(0, 12), 16))
}
