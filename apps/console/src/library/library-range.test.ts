import { expect, test } from '@jest/globals'
import { LAST_DIRECT_PAGE, rangeFromEnd, rangeFromStart } from './library-range.ts'

test('the first pages are counted from the start, up to the largest start of the API', () => {
  expect(rangeFromStart(1)).toEqual({ start: 1, limit: 20, isReversed: false })
  expect(rangeFromStart(LAST_DIRECT_PAGE)).toEqual({ start: 9_981, limit: 20, isReversed: false })
})

test.each([
  [5_000, 100_000, { start: 1, limit: 20, isReversed: true }],
  [4_999, 100_000, { start: 21, limit: 20, isReversed: true }],
  [5_001, 100_007, { start: 1, limit: 7, isReversed: true }],
  [5_000, 100_007, { start: 8, limit: 20, isReversed: true }],
  [4_501, 100_000, { start: 9_981, limit: 20, isReversed: true }],
  [4_500, 100_000, undefined],
  [5_001, 100_000, undefined],
])('page %i of %i rows, counted from the end', (page, total, range) => {
  expect(rangeFromEnd(page, total)).toEqual(range)
})

test('pages from both ends have all rows of a list of 20,000 once', () => {
  const total = 19_999
  const rows = Array.from({ length: Math.ceil(total / 20) }, (_, index) => index + 1).flatMap((page) => {
    const range = page <= LAST_DIRECT_PAGE ? rangeFromStart(page) : rangeFromEnd(page, total)
    if (!range) throw new Error(`page ${page} cannot be opened`)
    const numbers = Array.from({ length: range.limit }, (_, index) => range.start + index).filter((row) => row <= total)
    return range.isReversed ? numbers.map((row) => total - row + 1).toReversed() : numbers
  })
  expect(rows).toEqual(Array.from({ length: total }, (_, index) => index + 1))
})
