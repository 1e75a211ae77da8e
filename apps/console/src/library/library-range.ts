export const PAGE_SIZE = 20
/** Largest number of a first row with which the API opens a page of a list directly. */
const MAX_START = 10_000
/** Pages up to this one are counted from the start of the list. */
export const LAST_DIRECT_PAGE = MAX_START / PAGE_SIZE

/** Rows to request for a page. `isReversed` counts from the end: the opposite order is requested and its rows are reversed. */
export interface Range {
  start: number
  limit: number
  isReversed: boolean
}

/** Returns the rows of a page that the API can open directly from the start of the list. */
export function rangeFromStart(page: number): Range {
  return { start: (page - 1) * PAGE_SIZE + 1, limit: PAGE_SIZE, isReversed: false }
}

/** Returns the rows of a page, counted from the end of the list. Returns undefined if the page is too far from it, or after it. */
export function rangeFromEnd(page: number, total: number): Range | undefined {
  const last = Math.min(page * PAGE_SIZE, total)
  const limit = last - (page - 1) * PAGE_SIZE
  const start = total - last + 1
  return limit > 0 && start <= MAX_START ? { start, limit, isReversed: true } : undefined
}
