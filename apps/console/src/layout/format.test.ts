import { expect, test } from '@jest/globals'
import { formatTime, secondsBetween } from './format.ts'

test('times of keys, which end in GMT, are read like other times', () => {
  expect(formatTime('2030-12-31 10:00:00 GMT')).toBe(formatTime('2030-12-31 10:00:00'))
  expect(secondsBetween('2030-12-31 10:00:00', '2030-12-31 10:01:00 GMT')).toBe(60)
})

test('an empty time is an empty text', () => {
  expect(formatTime('')).toBe('')
})
