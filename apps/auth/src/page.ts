import { decodePageToken, encodePageToken } from '@vitascope/postgres'
import { inspection, isId } from './input.ts'

/** Part of a list by ascending id. */
export interface Page {
  /** Rows at most. */
  size: number
  /** The id before the first row; "0" for the beginning. */
  after: string
  /** Rows to pass over before the first. */
  skip: number
}

const MOST_ROWS = 1_000

export function readPage(request: { pageSize: number; pageToken: string; skip: number }): Page {
  const input = inspection()
  if (request.pageSize < 0) input.note('page_size', 'must be 0 or more')
  if (request.skip < 0) input.note('skip', 'must be 0 or more')
  const [after = '0'] = decodePageToken(request.pageToken, 1) ?? []
  if (after !== '0' && !isId(after)) input.note('page_token', 'is not one that a list answered')
  input.check()
  return { size: Math.min(request.pageSize || MOST_ROWS, MOST_ROWS), after, skip: request.skip }
}

/** Messages stay under 4 MiB; a row's JSON is never shorter than its message. */
const MOST_BYTES = 3 * 1024 * 1024

/** Cuts the one row too many that a store reads to see whether there are more, and what a message cannot hold. */
export function cutPage<Row>(rows: readonly Row[], page: Page, idOf: (row: Row) => string): { rows: Row[]; nextPageToken: string } {
  let bytes = 0
  const tooMany = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row))
    return index === page.size || (bytes > MOST_BYTES && index > 0)
  })
  const shown = tooMany < 0 ? [...rows] : rows.slice(0, tooMany)
  const last = shown.at(-1)
  return { rows: shown, nextPageToken: tooMany >= 0 && last ? encodePageToken([idOf(last)]) : '' }
}
