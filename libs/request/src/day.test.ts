import { expect, test } from '@jest/globals'
import { isDay } from './day.ts'

test.each(['0001-01-01', '2028-02-29', '2026-12-31', '9999-12-31'])('%s is a day', (text) => {
  expect(isDay(text)).toBe(true)
})

test.each(['', '0000-01-01', '2026-02-29', '2026-06-31', '2026-13-01', '2026-00-10', '2026-1-1', '20260101', '2026-01-01 ', 'today'])(
  '%j is not a day',
  (text) => {
    expect(isDay(text)).toBe(false)
  },
)
