import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken } from '@vitascope/postgres'
import { parseId } from './id.ts'

/** The paging fields of a list request. */
export interface PageRequest {
  /** Rows per page; 0 selects the maximum. */
  pageSize: number
  pageToken: string
  skip: number
}

/** The rows to read: those with an id greater than `after`, ordered by id. */
export interface IdPlace {
  after: string
  limit: number
  skip: number
}

/**
 * Returns one page of a list that is ordered by sequential ids. `read` fetches one row more than
 * the page, to detect a next page.
 */
export async function pageById<Row>(
  { pageSize, pageToken, skip }: PageRequest,
  max: number,
  { read, idOf }: { read: (place: IdPlace) => Promise<Row[]>; idOf: (row: Row) => string },
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const size = checkedSize({ pageSize, skip }, max)
  const rows = await read({ after: readIdToken(pageToken), limit: size + 1, skip })
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return { rows: page, nextPageToken: rows.length > size && last ? encodePageToken([idOf(last)]) : '' }
}

/** Returns the page size. Throws `invalid` for negative numbers. */
export function checkedSize({ pageSize, skip }: Pick<PageRequest, 'pageSize' | 'skip'>, max: number): number {
  const problems = [
    ...(skip < 0 ? [{ field: 'skip', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'page_size', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  return pageSize === 0 ? max : Math.min(pageSize, max)
}

/**
 * Returns the id after which the page starts ("0" for the first page). Throws `invalid` if the
 * token is not from such a list.
 */
export function readIdToken(token: string): string {
  const values = decodePageToken(token, 1)
  if (!values) return '0'
  const id = parseId(values[0] ?? '')
  if (id === undefined) throw invalid([{ field: 'page_token', message: 'is not a cursor of this list' }])
  return id
}
