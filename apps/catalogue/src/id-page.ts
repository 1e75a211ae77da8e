import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken } from '@vitascope/postgres'
import { parseId } from './id/id.ts'

/** What a list rpc is asked for. */
export interface PageRequest {
  /** 0 for the most. */
  pageSize: number
  pageToken: string
  skip: number
}

/** The rows to read: those after an id, in the order of their sequential ids. */
export interface IdPlace {
  after: string
  limit: number
  skip: number
}

/** One page of a list that is ordered by its sequential ids alone; `read` is asked for one row more than the page has. */
export async function pageById<Row>(
  { pageSize, pageToken, skip }: PageRequest,
  most: number,
  { read, idOf }: { read: (place: IdPlace) => Promise<Row[]>; idOf: (row: Row) => string },
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const size = checkedSize({ pageSize, skip }, most)
  const rows = await read({ after: readIdToken(pageToken), limit: size + 1, skip })
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return { rows: page, nextPageToken: rows.length > size && last ? encodePageToken([idOf(last)]) : '' }
}

/** Rows of a page; refuses negative numbers under their public names. */
export function checkedSize({ pageSize, skip }: Pick<PageRequest, 'pageSize' | 'skip'>, most: number): number {
  const problems = [
    ...(skip < 0 ? [{ field: 'start', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'limit', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  return pageSize === 0 ? most : Math.min(pageSize, most)
}

/** The id after which a list goes on, "0" for its beginning; refuses what no list by ids answered. */
export function readIdToken(token: string): string {
  const values = decodePageToken(token, 1)
  if (!values) return '0'
  const id = parseId(values[0] ?? '')
  if (id === undefined) throw invalid([{ field: 'page_token', message: 'is not one that this list answered' }])
  return id
}
