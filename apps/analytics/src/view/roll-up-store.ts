import type { Query } from '@vitascope/postgres'
import { type Counts, findNonZeroRows, type RollUps } from './roll-up.ts'

type KeyType = 'bigint' | 'date' | 'int' | 'text'
type AnyCounts = Counts<string, string>

/** Maximum number of rows per statement. Statements with thousands of rows can exceed the statement timeout. */
const MAX_ROWS = 1_000
/** Maximum number of heatmap rows per statement. Each has 2,000 numbers. */
const MAX_HEAT_ROWS = 250

/** Adds differences to the stored counts, in several statements. The caller must hold the merge lock. */
export async function addRollUps(query: Query, differences: RollUps): Promise<void> {
  await addRows(query, 'organisation_day', findNonZeroRows(differences.organisationDays), {
    keys: { organisation_id: 'bigint', day: 'date', language: 'text', subtitle: 'text' },
    getKey: ({ organisationId, day, language, subtitle }) => [organisationId, day, language, subtitle],
  })
  await addRows(query, 'video_day', findNonZeroRows(differences.videoDays), {
    keys: { video_id: 'bigint', day: 'date', language: 'text' },
    otherColumns: { organisation_id: 'bigint' },
    getKey: ({ videoId, day, language, organisationId }) => [videoId, day, language, organisationId],
  })
  await addRows(query, 'video_heat', findNonZeroRows(differences.heats), {
    maxRows: MAX_HEAT_ROWS,
    keys: { video_id: 'bigint', day: 'date', duration_ms: 'int' },
    getKey: ({ videoId, day, durationMs }) => [videoId, day, durationMs],
  })
  await addRows(query, 'video_quality', findNonZeroRows(differences.qualities), {
    keys: { video_id: 'bigint', day: 'date' },
    getKey: ({ videoId, day }) => [videoId, day],
  })
}

/** Adds rows to a table. Table and column names are inserted into SQL, so they must be constants. */
export async function addRows<Row extends AnyCounts>(
  query: Query,
  table: string,
  rows: readonly Row[],
  columnSpec: {
    keys: Record<string, KeyType>
    otherColumns?: Record<string, KeyType>
    getKey: (row: Row) => (string | number)[]
    maxRows?: number
  },
): Promise<void> {
  const [first] = rows
  if (!first) return
  const keys = Object.entries({ ...columnSpec.keys, ...columnSpec.otherColumns })
  const numbers = Object.keys(first.numbers)
  const lists = Object.keys(first.lists)
  const columns = [...keys.map(([name]) => name), ...numbers, ...lists]
  const types = [...keys.map(([, type]) => type), ...numbers.map(() => 'bigint'), ...lists.map(() => 'text')]
  const sums = [
    ...numbers.map((name) => `${name} = ${table}.${name} + excluded.${name}`),
    ...lists.map(
      (name) =>
        `${name} = (select array_agg(stored + added order by position)
           from unnest(${table}.${name}, excluded.${name}) with ordinality as counts (stored, added, position))`,
    ),
  ]
  const text = `insert into ${table} (${columns.join(', ')})
     select ${columns.map((name) => (lists.includes(name) ? `${name}::bigint[]` : name)).join(', ')}
     from unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')}) as row (${columns.join(', ')})
     order by ${Object.keys(columnSpec.keys).join(', ')}
     on conflict (${Object.keys(columnSpec.keys).join(', ')}) do update set ${sums.join(', ')}`
  const { maxRows = MAX_ROWS } = columnSpec
  for (let offset = 0; offset < rows.length; offset += maxRows) {
    const chunk = rows.slice(offset, offset + maxRows)
    await query(text, [
      ...keys.map((_, index) => chunk.map((row) => columnSpec.getKey(row)[index])),
      ...numbers.map((name) => chunk.map((row) => row.numbers[name])),
      ...lists.map((name) => chunk.map((row) => `{${row.lists[name]?.join(',')}}`)),
    ])
  }
}
