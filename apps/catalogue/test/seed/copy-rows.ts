import type { Db } from '@vitascope/postgres'

/** A column value. `json` is stored as JSON, and a list as an array of texts. */
export type Value = string | number | boolean | bigint | Date | null | readonly string[] | { json: unknown }

/** Rows per COPY and transaction: enough to make the cost of a statement negligible. */
const ROWS_AT_ONCE = 20_000
const ROWS_A_PART = 500

/** Inserts rows into a table by COPY, with all triggers. Returns their number. */
export async function copyRows(db: Db, table: string, columns: readonly string[], rows: Iterable<readonly Value[]>): Promise<number> {
  const iterator = rows[Symbol.iterator]()
  const text = `copy ${table} (${columns.join(', ')}) from stdin`
  for (let total = 0; ; ) {
    const count = await db.transaction((tx) => tx.copy(text, formatRows(iterator)))
    total += count
    if (count < ROWS_AT_ONCE) return total
  }
}

async function* formatRows(rows: Iterator<readonly Value[]>): AsyncGenerator<string> {
  for (let row = 0; row < ROWS_AT_ONCE; ) {
    let part = ''
    for (let inPart = 0; inPart < ROWS_A_PART && row < ROWS_AT_ONCE; inPart++, row++) {
      const next = rows.next()
      if (next.done) {
        if (part !== '') yield part
        return
      }
      part += `${next.value.map(formatValue).join('\t')}\n`
    }
    yield part
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
