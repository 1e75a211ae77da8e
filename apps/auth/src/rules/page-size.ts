/** Maximum number of rows per page. */
export const MAX_ROWS = 1_000

/** Returns an upper bound of the size of a row in a message: its JSON is never shorter. */
export function bytesOf(row: object): number {
  return Buffer.byteLength(JSON.stringify(row))
}
