import { type DomainError, type FieldError, invalid, requireValid } from '@vitascope/errors'
import { isId } from './id.ts'

/** The paging fields of a list request. */
export interface PageRequest {
  /** Rows per page; 0 selects the default. */
  pageSize: number
  pageToken: string
  skip: number
}

/** The rows to read from a list that is ordered by a key. */
export interface PagePosition {
  /** The rows after this key; for the first page the start of `pageByKey`. */
  after: string
  limit: number
  skip: number
}

/** The page that a store returns of a list whose token it reads itself. */
export interface TokenPage {
  size: number
  /** Empty for the first page. */
  token: string
  skip: number
}

/** How `pageByKey` reads a list. */
export interface KeyedPage<Row> {
  read: (position: PagePosition) => Promise<Row[]>
  getKey: (row: Row) => string
  isKey: (text: string) => boolean
  /** A key before all others. */
  start: string
  /** Size of a row in a message, in bytes. A page has at most 3 MiB, or one row. A message has at most 4 MiB. */
  getBytes?: (row: Row) => number
}

const MAX_BYTES = 3 * 1024 * 1024

/**
 * Returns one page of a list that is ordered by a unique key. It reads one row more than the page,
 * to detect a next page. Throws `invalid` for negative numbers and for a token of another list.
 */
export async function pageByKey<Row>(
  request: PageRequest,
  max: number,
  { read, getKey, isKey, start, getBytes = () => 0 }: KeyedPage<Row>,
): Promise<{ rows: Row[]; nextPageToken: string }> {
  const size = toPageSize(request, max)
  const after = readKeyToken(request.pageToken, isKey) ?? start
  const rowsRead = await read({ after, limit: size + 1, skip: request.skip })
  let bytes = 0
  const end = rowsRead.findIndex((row, index) => {
    bytes += getBytes(row)
    return index === size || (bytes > MAX_BYTES && index > 0)
  })
  const rows = end < 0 ? rowsRead : rowsRead.slice(0, end)
  const last = rows.at(-1)
  return { rows, nextPageToken: end >= 0 && last !== undefined ? encodePageToken([getKey(last)]) : '' }
}

/** Returns one page of a list that is ordered by ascending ids. */
export function pageById<Row>(
  request: PageRequest,
  max: number,
  { read, getId, ...options }: Pick<KeyedPage<Row>, 'read' | 'getBytes'> & { getId: (row: Row) => string },
): Promise<{ rows: Row[]; nextPageToken: string }> {
  return pageByKey(request, max, { read, getKey: getId, isKey: isId, start: '0', ...options })
}

/** Returns the problems of the numbers of a list request. */
export function checkPage({ pageSize, skip = 0 }: { pageSize: number; skip?: number }): FieldError[] {
  return [
    ...(skip < 0 ? [{ field: 'skip', message: 'must not be negative' }] : []),
    ...(pageSize < 0 ? [{ field: 'page_size', message: 'must not be negative' }] : []),
  ]
}

/** Returns the page size: at most `max`, and `defaultSize` for 0. Throws `invalid` for negative numbers. */
export function toPageSize(request: { pageSize: number; skip?: number }, max: number, defaultSize: number = max): number {
  requireValid(checkPage(request))
  return Math.min(request.pageSize || defaultSize, max)
}

/** Returns the page of a request. The size is that of `toPageSize`. Throws `invalid` for negative numbers. */
export function toTokenPage({ pageSize, pageToken, skip }: PageRequest, max: number, defaultSize: number = max): TokenPage {
  return { size: toPageSize({ pageSize, skip }, max, defaultSize), token: pageToken, skip }
}

/**
 * Returns the id after which the page starts ("0" for the first page). Throws `invalid` if the
 * token is not from a list that is ordered by ids.
 */
export function readIdToken(token: string): string {
  return readKeyToken(token, isId) ?? '0'
}

function readKeyToken(token: string, isKey: (text: string) => boolean): string | undefined {
  const [key] = decodePageToken(token, 1) ?? []
  if (key !== undefined && !isKey(key)) throw invalidPageToken()
  return key
}

/** Returns the sort values of the last row of a page as an opaque token. */
export function encodePageToken(values: readonly string[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/**
 * Returns the values of a token for `count` sort columns, or undefined for the first page. Throws
 * `invalid` for any other text.
 */
export function decodePageToken(token: string, count: number): string[] | undefined {
  if (token === '') return undefined
  try {
    const values: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
    if (Array.isArray(values) && values.length === count && values.every((v) => typeof v === 'string')) return values
  } catch {
    // Falls through to the throw below.
  }
  throw invalidPageToken()
}

export function invalidPageToken(): DomainError {
  return invalid([{ field: 'page_token', message: 'is not a cursor of this list' }])
}
