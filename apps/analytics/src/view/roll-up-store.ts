import type { Query } from '@vitascope/postgres'
import { type Counts, changed, type RollUps } from './roll-up.ts'

type KeyType = 'bigint' | 'date' | 'int' | 'text'
type AnyCounts = Counts<string, string>

/** Rows per statement. Without this limit, a merge of thousands of videos would exceed the statement timeout. */
const MAX_ROWS = 1_000
/** Each heatmap row has 2,000 numbers. */
const MAX_HEAT_ROWS = 250

/** Adds differences to the stored counts, in several statements. The caller must hold the merge lock. */
export async function addRollUps(query: Query, differences: RollUps): Promise<void> {
  await add(query, 'organisation_day', changed(differences.organisationDays), {
    keys: { organisation_id: 'bigint', day: 'date', language: 'text', subtitle: 'text' },
    keyOf: ({ organisationId, day, language, subtitle }) => [organisationId, day, language, subtitle],
  })
  await add(query, 'video_day', changed(differences.videoDays), {
    keys: { video_id: 'bigint', day: 'date', language: 'text' },
    otherColumns: { organisation_id: 'bigint' },
    keyOf: ({ videoId, day, language, organisationId }) => [videoId, day, language, organisationId],
  })
  await add(query, 'video_heat', changed(differences.heats), {
    maxRows: MAX_HEAT_ROWS,
    keys: { video_id: 'bigint', day: 'date', duration_ms: 'int' },
    keyOf: ({ videoId, day, durationMs }) => [videoId, day, durationMs],
  })
  await add(query, 'video_quality', changed(differences.qualities), {
    keys: { video_id: 'bigint', day: 'date' },
    keyOf: ({ videoId, day }) => [videoId, day],
  })
}

/** Adds rows to a table. Table and column names are constants, so they are safe in SQL. */
async function add<Row extends AnyCounts>(
  query: Query,
  table: string,
  rows: readonly Row[],
  shape: {
    keys: Record<string, KeyType>
    otherColumns?: Record<string, KeyType>
    keyOf: (row: Row) => (string | number)[]
    maxRows?: number
  },
): Promise<void> {
  const [first] = rows
  if (!first) return
  const keys = Object.entries({ ...shape.keys, ...shape.otherColumns })
  const numbers = Object.keys(first.numbers)
  const lists = Object.keys(first.lists)
  const columns = [...keys.map(([name]) => name), ...numbers, ...lists]
  const types = [...keys.map(([, type]) => type), ...numbers.map(() => 'bigint'), ...lists.map(() => 'text')]
  const sums = [
    ...numbers.map((name) => `${name} = ${table}.${name} + excluded.${name}`),
    ...lists.map(
      (name) =>
        `${name} = (select array_agg(old + new order by place)
           from unnest(${table}.${name}, excluded.${name}) with ordinality as pair (old, new, place))`,
    ),
  ]
  const text = `insert into ${table} (${columns.join(', ')})
     select ${columns.map((name) => (lists.includes(name) ? `${name}::bigint[]` : name)).join(', ')}
     from unnest(${types.map((type, nth) => `$${nth + 1}::${type}[]`).join(', ')}) as row (${columns.join(', ')})
     order by ${Object.keys(shape.keys).join(', ')}
     on conflict (${Object.keys(shape.keys).join(', ')}) do update set ${sums.join(', ')}`
  const { maxRows = MAX_ROWS } = shape
  for (let at = 0; at < rows.length; at += maxRows) {
    const chunk = rows.slice(at, at + maxRows)
    await query(text, [
      ...keys.map((_, nth) => chunk.map((row) => shape.keyOf(row)[nth])),
      ...numbers.map((name) => chunk.map((row) => row.numbers[name])),
      ...lists.map((name) => chunk.map((row) => `{${row.lists[name]?.join(',')}}`)),
    ])
  }
}
