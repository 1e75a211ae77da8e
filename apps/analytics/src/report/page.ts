import { invalid } from '@vitascope/errors'
import { decodePageToken, encodePageToken } from '@vitascope/postgres'

/** What a list rpc is asked for. */
export interface PageRequest {
  /** 0 for the most. */
  pageSize: number
  pageToken: string
  skip: number
}

/** The rows to read: those behind a key. */
export interface Place {
  /** Empty for the beginning. */
  after: string
  limit: number
  skip: number
}

const MOST = 1_000

/** One page of a list in the order of one key; `read` is asked for one row more than the page has. */
export async function page<Row>(
  { pageSize, pageToken, skip }: PageRequest,
  {
    read,
    keyOf,
    isKey,
    most = MOST,
  }: { read: (place: Place) => Promise<Row[]>; keyOf: (row: Row) => string; isKey: (text: string) => boolean; most?: number },
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const problems = [
    ...(skip < 0 ? [{ field: 'start', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'limit', message: 'must not be negative' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  const size = pageSize === 0 ? most : Math.min(pageSize, most)
  const [after = ''] = decodePageToken(pageToken, 1) ?? []
  if (after !== '' && !isKey(after)) throw invalid([{ field: 'page_token', message: 'is not one that this list answered' }])
  const rows = await read({ after, limit: size + 1, skip })
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  return { rows: shown, nextPageToken: rows.length > size && last ? encodePageToken([keyOf(last)]) : '' }
}
