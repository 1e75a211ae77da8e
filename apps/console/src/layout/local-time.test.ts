import { expect, test } from '@jest/globals'
import { toLocalTime, toUtcTime } from './local-time.ts'

test('a time of the API is the same after an input for a local time', () => {
  expect(toUtcTime(toLocalTime('2030-06-15 12:30:00'))).toBe('2030-06-15 12:30:00')
  expect(toUtcTime(toLocalTime('2030-12-15 12:30:00 GMT'))).toBe('2030-12-15 12:30:00')
})

test('no time is an empty input', () => {
  expect([toLocalTime(''), toUtcTime('')]).toEqual(['', ''])
})
