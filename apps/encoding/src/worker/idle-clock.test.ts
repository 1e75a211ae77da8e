import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createIdleClock } from './idle-clock.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('an idle worker is notified once', () => {
  const onIdle = jest.fn()
  createIdleClock(10, onIdle)
  jest.advanceTimersByTime(9_999)
  expect(onIdle).not.toHaveBeenCalled()
  jest.advanceTimersByTime(60_000)
  expect(onIdle).toHaveBeenCalledTimes(1)
})

test('a running task prevents idleness, and the idle time starts when the last task ends', () => {
  const onIdle = jest.fn()
  const clock = createIdleClock(10, onIdle)
  const [first, second] = [clock.startTask(), clock.startTask()]
  jest.advanceTimersByTime(60_000)
  first()
  jest.advanceTimersByTime(60_000)
  second()
  jest.advanceTimersByTime(9_999)
  expect(onIdle).not.toHaveBeenCalled()
  jest.advanceTimersByTime(1)
  expect(onIdle).toHaveBeenCalledTimes(1)
})

test('an idle worker is not notified without a limit, or after the clock was stopped', () => {
  const onIdle = jest.fn()
  createIdleClock(undefined, onIdle).startTask()()
  const stopped = createIdleClock(10, onIdle)
  const end = stopped.startTask()
  stopped.stop()
  end()
  jest.advanceTimersByTime(60_000)
  expect(onIdle).not.toHaveBeenCalled()
})
