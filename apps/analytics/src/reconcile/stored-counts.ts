import type { Query } from '@vitascope/postgres'

/** A table of counts. Its names are inserted into SQL, so they must be constants. */
export interface CountTable {
  table: string
  /** Rows are ordered by the first key, which is an id. */
  keys: readonly [string, ...string[]]
  /** Rows per fetch. */
  fetch: number
}

export interface StoredRow {
  /** Texts of the key columns, joined by line feeds. `RollUps`, the counts that are computed from events, have the same keys. */
  key: string
  counts: Record<string, unknown>
}

/** Reads the rows of a table in several calls, ordered by the first key. */
export interface StoredCounts {
  /** Yields the next rows whose first key is at most `id`. Without `id` it yields all remaining rows. */
  readUpTo(id?: string): AsyncGenerator<StoredRow>
}

export function readStoredCounts(query: Query, { table, keys, fetch }: CountTable, since: string): StoredCounts {
  const [first] = keys
  const key = keys.map((name) => `${name}::text`).join(` || E'\\n' || `)
  let rows: (StoredRow & { id: string })[] | undefined
  let position = 0
  const open = () =>
    // Sorts the rows before it converts them to JSON, because sorting JSON of long lists is
    // expensive.
    query(
      `declare stored_${table} no scroll cursor for select ${first}::text as id, ${key} as key, to_json(stored) as counts
       from (select * from ${table} where day >= '${since}' order by ${first} offset 0) stored`,
    )
  const peekRow = async () => {
    if (!rows) await open()
    // An empty fetch means that there are no more rows.
    if (!rows || (rows.length > 0 && position === rows.length)) {
      rows = await query(`fetch ${fetch} from stored_${table}`)
      position = 0
    }
    return rows[position]
  }
  return {
    async *readUpTo(id) {
      const last = id === undefined ? undefined : BigInt(id)
      for (;;) {
        const row = await peekRow()
        if (!row || (last !== undefined && BigInt(row.id) > last)) return
        position++
        yield row
      }
    },
  }
}
