import type { Query } from '@vitascope/postgres'

/** A table of counts. Its names are constants, so they are safe in SQL. */
export interface CountTable {
  table: string
  /** Rows are ordered by the first key, which is an id. */
  keys: readonly [string, ...string[]]
  /** Rows per fetch. */
  fetch: number
}

export interface StoredRow {
  /** Same format as in the maps of `RollUps`. */
  key: string
  counts: Record<string, unknown>
}

/** Reads the rows of a table since a day in parts, ordered by the first key. */
export interface StoredCounts {
  /** Yields the rows that were not read before and whose first key is at most `id`; all remaining ones without `id`. */
  upTo(id?: string): AsyncGenerator<StoredRow>
}

export function storedCounts(query: Query, { table, keys, fetch }: CountTable, since: string): StoredCounts {
  const [first] = keys
  const key = keys.map((name) => `${name}::text`).join(` || E'\\n' || `)
  let rows: (StoredRow & { id: string })[] | undefined
  let at = 0
  const open = () =>
    // Sorts the rows before it converts them to JSON, because sorting JSON of long lists is
    // expensive.
    query(
      `declare stored_${table} no scroll cursor for select ${first}::text as id, ${key} as key, to_json(stored) as counts
       from (select * from ${table} where day >= '${since}' order by ${first} offset 0) stored`,
    )
  const next = async () => {
    if (!rows) await open()
    // An empty fetch means that there are no more rows.
    if (!rows || (rows.length > 0 && at === rows.length)) {
      rows = await query(`fetch ${fetch} from stored_${table}`)
      at = 0
    }
    return rows[at]
  }
  return {
    async *upTo(id) {
      const last = id === undefined ? undefined : BigInt(id)
      for (;;) {
        const row = await next()
        if (!row || (last !== undefined && BigInt(row.id) > last)) return
        at++
        yield row
      }
    },
  }
}
