import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLogLimit } from './log-limit.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('the first event of a key is logged, and later ones once per interval with their number', () => {
  const limit = createLogLimit(10_000)
  const lines: string[] = []
  const note = (key: string) => limit(key, (events) => lines.push(`${key} ${events}`))
  for (const key of ['a', 'a', 'b', 'a']) note(key)
  jest.advanceTimersByTime(9_999)
  note('a')
  expect(lines).toEqual(['a 1', 'b 1'])
  jest.advanceTimersByTime(1)
  for (const key of ['a', 'a']) note(key)
  expect(lines).toEqual(['a 1', 'b 1', 'a 4'])
})

test('beyond 1,000 keys, only the key that was logged first is logged again', () => {
  const limit = createLogLimit(10_000)
  let lines = 0
  const note = (key: number) => limit(String(key), () => lines++)
  for (let key = 0; key <= 1_000; key++) note(key)
  for (let key = 1_000; key >= 0; key--) note(key)
  expect(lines).toBe(1_002)
})
