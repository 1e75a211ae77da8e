import { decodePageToken, encodePageToken } from '@vitascope/postgres'
import { inspection, isId } from './input.ts'

/** A page of a list that is ordered by ascending id. */
export interface Page {
  /** Maximum number of rows. */
  size: number
  /** The page starts after this id; "0" for the first page. */
  after: string
  /** Number of rows to skip. */
  skip: number
}

const MAX_ROWS = 1_000

export function readPage(request: { pageSize: number; pageToken: string; skip: number }): Page {
  const input = inspection()
  if (request.pageSize < 0) input.note('page_size', 'must be 0 or more')
  if (request.skip < 0) input.note('skip', 'must be 0 or more')
  const [after = '0'] = decodePageToken(request.pageToken, 1) ?? []
  if (after !== '0' && !isId(after)) input.note('page_token', 'is not one that a list answered')
  input.check()
  return { size: Math.min(request.pageSize || MAX_ROWS, MAX_ROWS), after, skip: request.skip }
}

/** Messages must stay below 4 MiB. The JSON of a row is never shorter than its message. */
const MAX_BYTES = 3 * 1024 * 1024

/** Removes the extra row that a store reads to detect a next page, and the rows that do not fit into a message. */
export function cutPage<Row>(rows: readonly Row[], page: Page, idOf: (row: Row) => string): { rows: Row[]; nextPageToken: string } {
  let bytes = 0
  const tooMany = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row))
    return index === page.size || (bytes > MAX_BYTES && index > 0)
  })
  const shown = tooMany < 0 ? [...rows] : rows.slice(0, tooMany)
  const last = shown.at(-1)
  return { rows: shown, nextPageToken: tooMany >= 0 && last ? encodePageToken([idOf(last)]) : '' }
}
