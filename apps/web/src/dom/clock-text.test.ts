import { expect, test } from '@jest/globals'
import { formatClock, formatDuration } from './clock-text.ts'

test.each([
  [0, '0:00'],
  [247.9, '4:07'],
  [3723, '1:02:03'],
  [Number.NaN, '0:00'],
  [Number.POSITIVE_INFINITY, '0:00'],
])('%p seconds are shown as %s', (seconds, text) => {
  expect(formatClock(seconds)).toBe(text)
})

test('durations are rounded to seconds', () => {
  expect([11.98, 12.04].map(formatDuration)).toEqual(['0:12', '0:12'])
  expect(formatDuration(Number.NaN)).toBe('0:00')
})
