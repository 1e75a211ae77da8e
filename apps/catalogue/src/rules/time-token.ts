import { decodePageToken, encodePageToken, invalidPageToken, isId } from '@vitascope/request'

/** A position in a list that is ordered by creation time and then by id, both ascending. */
export interface TimePosition {
  createTime: Date
  id: string
}

/**
 * Returns the page token of the page that starts after a row. Its time has a precision of
 * milliseconds, so the column must not have a higher one.
 */
export function writeTimeToken({ createTime, id }: TimePosition): string {
  return encodePageToken([String(createTime.getTime()), id])
}

/**
 * Returns the position after which the page starts. For the empty token of the first page, it is before
 * all rows. Throws `invalid` if the token is not a result of `writeTimeToken`.
 */
export function readTimeToken(token: string): TimePosition {
  const values = decodePageToken(token, 2)
  if (!values) return { createTime: new Date(0), id: '0' }
  const [time = '', id = ''] = values
  if (!/^\d{1,15}$/.test(time) || !isId(id)) throw invalidPageToken()
  return { createTime: new Date(Number(time)), id }
}
