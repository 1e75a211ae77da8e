/**
 * An array parameter as PostgreSQL reads it, of numbers, ids, days and UUIDs: nothing in them needs quotes, and looking for what does costs more than
 * writing them.
 */
export function arrayOf<Row>(rows: readonly Row[], value: (row: Row) => number | string | null): string {
  let text = ''
  for (const row of rows) text += `${text === '' ? '' : ','}${value(row) ?? 'null'}`
  return `{${text}}`
}

/** Of `bytea`. */
export function bytesArrayOf<Row>(rows: readonly Row[], value: (row: Row) => Uint8Array): string {
  return arrayOf(rows, (row) => `"\\\\x${Buffer.from(value(row)).toString('hex')}"`)
}
