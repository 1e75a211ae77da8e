import pg from 'pg'

/** A row as the server sent it. */
export interface TextRow<Row> {
  /** All values of the row. Two rows of one statement with equal texts have equal values. */
  text: string
  parse(): Row
}

/** Returns each value as its text. */
export const RAW_TYPES: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value }

export function toTextRow<Row>(values: readonly (string | null)[], fields: readonly pg.FieldDef[]): TextRow<Row> {
  return { text: joinValues(values), parse: () => parseValues(values, fields) as Row }
}

/** Joins the values of a row. Texts of PostgreSQL contain no NUL, so rows with different values have different results. */
function joinValues(values: readonly (string | null)[]): string {
  let text = ''
  for (const value of values) text += value === null ? '\0-' : `\0+${value}`
  return text
}

function parseValues(values: readonly (string | null)[], fields: readonly pg.FieldDef[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map(({ name, dataTypeID }, index) => {
      const value = values[index] ?? null
      return [name, value === null ? null : pg.types.getTypeParser(dataTypeID, 'text')(value)]
    }),
  )
}
