import { randomBytes } from 'node:crypto'

const COUNTER_SIZE = 0x1000

/**
 * Returns a generator of UUIDv7: milliseconds since 1970, then a counter. The ids of one process
 * are ordered.
 */
export function createEntryIds(now: () => number = Date.now): () => string {
  let last = 0
  let count = 0
  return () => {
    const time = now()
    if (time > last) {
      last = time
      count = 0
    } else if (++count === COUNTER_SIZE) {
      // The clock went back, or the counter is exhausted. Order is more important than an exact
      // millisecond.
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

/** Returns the creation time of an entry. */
export function parseTime(entryId: string): Date {
  return new Date(Number.parseInt(entryId.replace('-', '').slice(0, 12), 16))
}
