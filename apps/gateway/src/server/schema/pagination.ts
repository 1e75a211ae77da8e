import { invalid } from '@vitascope/errors'
import { int, text } from './fields.ts'

/** Larger than the length of any list, and below the maximum of int32. */
const MAX_START = 1_000_000_000
/** Without a cursor the database counts the skipped rows, so `start` is bounded. */
const MAX_START_WITHOUT_CURSOR = 10_000

/** Query parameters for the start of a page. */
export const positionQuery = {
  start: int(
    { min: 1, max: MAX_START },
    { description: 'Number of the first row, from 1. Beyond 10,000, follow the `Link` header.' },
  ).default(1),
  cursor: text(8_000, { min: 1 }, { description: 'Position of `start`, from the `Link` header. It makes large lists fast.' }).optional(),
}

/** Query parameters of lists for which the API specification defines no pagination. */
export const pageQuery = {
  ...positionQuery,
  limit: int({ min: 1, max: 1_000 }, { description: 'Maximum number of rows.' }).default(1_000),
}

/**
 * Returns the position for an rpc: the cursor as page token, or the number of rows to skip. Throws if
 * `start` is too large without a cursor.
 */
export function toPosition({ start, cursor }: { start: number; cursor?: string | undefined }): Pick<PageRequest, 'pageToken' | 'skip'> {
  if (cursor !== undefined) return { pageToken: cursor, skip: 0 }
  if (start <= MAX_START_WITHOUT_CURSOR) return { pageToken: '', skip: start - 1 }
  const message = `must be at most ${MAX_START_WITHOUT_CURSOR}; follow the Link header of a page beyond that`
  throw invalid([{ field: 'start', message }])
}

/** Pagination fields of a list rpc. */
export interface PageRequest {
  pageSize: number
  pageToken: string
  skip: number
}

/**
 * Returns `limit` rows of a list from row `start`. It requests at most `maxPageSize` rows per call, to
 * keep responses under 4 MiB. `nextCursor` is the cursor of the next rows, or empty at the end.
 */
export async function collectRows<Row>(
  { start, cursor, limit, maxPageSize }: { start: number; cursor?: string | undefined; limit: number; maxPageSize: number },
  fetchPage: (page: PageRequest) => Promise<{ rows: readonly Row[]; nextPageToken: string }>,
): Promise<{ rows: Row[]; nextCursor: string }> {
  const rows: Row[] = []
  let position = toPosition({ start, cursor })
  do {
    const page = await fetchPage({ pageSize: Math.min(maxPageSize, limit - rows.length), ...position })
    rows.push(...page.rows)
    position = { pageToken: page.nextPageToken, skip: 0 }
  } while (position.pageToken !== '' && rows.length < limit)
  return { rows, nextCursor: position.pageToken }
}

/**
 * Returns the `Link` header for the next page, or none at the end of the list. `path` is below
 * `/v2`.
 */
export function nextLink(
  publicUrl: string,
  path: string,
  {
    start,
    limit,
    nextCursor,
    query = {},
  }: { start: number; limit: number; nextCursor: string; query?: Readonly<Record<string, string | undefined>> },
): Readonly<Record<string, string>> {
  if (nextCursor === '') return {}
  const filters = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const position = Object.entries({ start: String(start + limit), limit: String(limit), cursor: nextCursor })
  const search = new URLSearchParams([...filters, ...position])
  return { Link: `<${publicUrl}/v2${path}?${search}>; rel="next"` }
}
