/**
 * Returns an array in PostgreSQL's text format. Values must be numbers, ids, days or UUIDs, because
 * the function does not quote them.
 */
export function toArrayText<Row>(rows: readonly Row[], value: (row: Row) => number | string | null): string {
  let text = ''
  for (const row of rows) text += `${text === '' ? '' : ','}${value(row) ?? 'null'}`
  return `{${text}}`
}

/** Returns an array of `bytea` in PostgreSQL's text format. */
export function toBytesArrayText<Row>(rows: readonly Row[], value: (row: Row) => Uint8Array): string {
  return toArrayText(rows, (row) => `"\\\\x${Buffer.from(value(row)).toString('hex')}"`)
}
