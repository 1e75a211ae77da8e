import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createIdleClock } from './idle-clock.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('who has nothing to do for so long is told, once', () => {
  const onIdle = jest.fn()
  createIdleClock(10, onIdle)
  jest.advanceTimersByTime(9_999)
  expect(onIdle).not.toHaveBeenCalled()
  jest.advanceTimersByTime(60_000)
  expect(onIdle).toHaveBeenCalledTimes(1)
})

test('while any task is under way nobody is idle, and the time begins with the end of the last', () => {
  const onIdle = jest.fn()
  const clock = createIdleClock(10, onIdle)
  const [first, second] = [clock.work(), clock.work()]
  jest.advanceTimersByTime(60_000)
  first()
  jest.advanceTimersByTime(60_000)
  second()
  jest.advanceTimersByTime(9_999)
  expect(onIdle).not.toHaveBeenCalled()
  jest.advanceTimersByTime(1)
  expect(onIdle).toHaveBeenCalledTimes(1)
})

test('nobody is told without a bound, or after the end', () => {
  const onIdle = jest.fn()
  createIdleClock(undefined, onIdle).work()()
  const stopped = createIdleClock(10, onIdle)
  const end = stopped.work()
  stopped.stop()
  end()
  jest.advanceTimersByTime(60_000)
  expect(onIdle).not.toHaveBeenCalled()
})
