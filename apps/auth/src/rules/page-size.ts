/** Maximum number of rows per page. */
export const MAX_ROWS = 1_000

/** Returns an upper bound of the size of a row in a message. The size of its JSON is such a bound. */
export function messageSize(row: object): number {
  return Buffer.byteLength(JSON.stringify(row))
}
