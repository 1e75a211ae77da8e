import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken } from '@vitascope/postgres'

/** The paging fields of a list request. */
export interface PageRequest {
  /** Rows per page; 0 selects the maximum. */
  pageSize: number
  pageToken: string
  skip: number
}

/** The rows to read: those after a key. */
export interface Place {
  /** Empty for the first page. */
  after: string
  limit: number
  skip: number
}

const MAX_PAGE_SIZE = 1_000

/**
 * Returns one page of a list that is ordered by one key. `read` fetches one row more than the page,
 * to detect a next page.
 */
export async function page<Row>(
  { pageSize, pageToken, skip }: PageRequest,
  {
    read,
    keyOf,
    isKey,
    max = MAX_PAGE_SIZE,
  }: { read: (place: Place) => Promise<Row[]>; keyOf: (row: Row) => string; isKey: (text: string) => boolean; max?: number },
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const problems = [
    ...(skip < 0 ? [{ field: 'skip', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'page_size', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  const size = pageSize === 0 ? max : Math.min(pageSize, max)
  const [after = ''] = decodePageToken(pageToken, 1) ?? []
  if (after !== '' && !isKey(after)) throw invalid([{ field: 'page_token', message: 'is not a cursor of this list' }])
  const rows = await read({ after, limit: size + 1, skip })
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  return { rows: shown, nextPageToken: rows.length > size && last ? encodePageToken([keyOf(last)]) : '' }
}
