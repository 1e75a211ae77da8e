/**
 * Returns an array in PostgreSQL's text format. Values must be numbers, ids, days or UUIDs: they
 * need no quoting, and checking for that would cost more than writing them.
 */
export function arrayOf<Row>(rows: readonly Row[], value: (row: Row) => number | string | null): string {
  let text = ''
  for (const row of rows) text += `${text === '' ? '' : ','}${value(row) ?? 'null'}`
  return `{${text}}`
}

/** Returns an array of `bytea`. */
export function bytesArrayOf<Row>(rows: readonly Row[], value: (row: Row) => Uint8Array): string {
  return arrayOf(rows, (row) => `"\\\\x${Buffer.from(value(row)).toString('hex')}"`)
}
