import { isDay, type PagePosition, type PageRequest, pageByKey } from '@vitascope/request'

export const MAX_PAGE_SIZE = 1_000

/**
 * Returns one page of a list with one row for each day, oldest first. `read` gets the last day of the
 * previous page. Throws `invalid` for a negative page size and for a token of another list.
 */
export function pageByDay<Row extends { day: string }>(request: PageRequest, read: (page: PagePosition) => Promise<Row[]>) {
  return pageByKey(request, MAX_PAGE_SIZE, { read, getKey: ({ day }) => day, isKey: isDay, start: '-infinity' })
}
