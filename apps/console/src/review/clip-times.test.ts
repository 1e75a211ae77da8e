import { expect, test } from '@jest/globals'
import { type Clip, moveItem, readTimes, toTimeFields } from './clip-times.ts'

test.each([
  [0, 0],
  [62.48, 65],
  [1.001, 604_800.999],
])('times from %d to %d are stored exactly', (start, end) => {
  expect(readTimes(toTimeFields(start, end) as Clip)).toEqual({ start, end })
})

test('an item moves to another position, and not out of the list', () => {
  expect(moveItem(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b'])
  expect(moveItem(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c'])
  expect([moveItem(['a'], 0, -1), moveItem(['a'], 0, 1), moveItem([], 0, 0)]).toEqual([undefined, undefined, undefined])
})
