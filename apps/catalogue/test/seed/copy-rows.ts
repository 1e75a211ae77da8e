import type { Db } from '@vitascope/postgres'

/** A column value. `json` is stored as JSON, and a list as an array of texts. */
export type Value = string | number | boolean | bigint | Date | null | readonly string[] | { json: unknown }

/** Rows per COPY and transaction: enough to make the cost of a statement negligible. */
const ROWS_PER_COPY = 20_000
/** Rows per chunk of the COPY stream. */
const ROWS_PER_CHUNK = 500

/** Inserts rows into a table by COPY, with all triggers. Returns their number. */
export async function copyRows(db: Db, table: string, columns: readonly string[], rows: Iterable<readonly Value[]>): Promise<number> {
  const iterator = rows[Symbol.iterator]()
  const text = `copy ${table} (${columns.join(', ')}) from stdin`
  for (let total = 0; ; ) {
    const count = await db.transaction((tx) => tx.copy(text, formatRows(iterator)))
    total += count
    if (count < ROWS_PER_COPY) return total
  }
}

async function* formatRows(rows: Iterator<readonly Value[]>): AsyncGenerator<string> {
  for (let row = 0; row < ROWS_PER_COPY; ) {
    let chunk = ''
    for (let inChunk = 0; inChunk < ROWS_PER_CHUNK && row < ROWS_PER_COPY; inChunk++, row++) {
      const next = rows.next()
      if (next.done) {
        if (chunk !== '') yield chunk
        return
      }
      chunk += `${next.value.map(formatValue).join('\t')}\n`
    }
    yield chunk
  }
}

/** Returns a value in the text format of COPY. */
function formatValue(value: Value): string {
  if (value === null) return '\\N'
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value !== 'object') return escapeText(String(value))
  if ('json' in value) return escapeText(JSON.stringify(value.json))
  return escapeText(`{${value.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`)
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escapeText(text: string): string {
  return text.replaceAll(/[\\\t\n\r]/g, (sign) => ESCAPES[sign] ?? sign)
}
