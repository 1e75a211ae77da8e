import type { Query } from '@vitascope/postgres'

/** A table of counts; names are constants of ours. */
export interface CountTable {
  table: string
  /** The first is an id, by which the rows come. */
  keys: readonly [string, ...string[]]
  /** Rows fetched at once. */
  fetch: number
}

export interface StoredRow {
  /** As in the map of the roll-up. */
  key: string
  counts: Record<string, unknown>
}

/** The rows of a table since a day in the order of its first key, taken bit by bit. */
export interface StoredCounts {
  /** Those not taken before whose first key is at most `id`, or all of them. */
  upTo(id?: string): AsyncGenerator<StoredRow>
}

export function storedCounts(query: Query, { table, keys, fetch }: CountTable, since: string): StoredCounts {
  const [first] = keys
  const key = keys.map((name) => `${name}::text`).join(` || E'\\n' || `)
  let rows: (StoredRow & { id: string })[] | undefined
  let at = 0
  const open = () =>
    // Sorted as they lie there, and written out after that, which is dear for long lists.
    query(
      `declare stored_${table} no scroll cursor for select ${first}::text as id, ${key} as key, to_json(stored) as counts
       from (select * from ${table} where day >= '${since}' order by ${first} offset 0) stored`,
    )
  const next = async () => {
    if (!rows) await open()
    // Nothing was fetched last: there is no more.
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
