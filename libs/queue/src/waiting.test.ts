import { expect, jest, test } from '@jest/globals'
import { createWaiting } from './waiting.ts'

test('several waiting requests of a group poll as often together as one request alone', async () => {
  jest.useFakeTimers()
  try {
    const waiting = createWaiting()
    const { signal } = new AbortController()
    const polls: Record<string, number> = { many: 0, one: 0 }
    const request = async (group: string) => {
      for (;;) {
        await waiting.pause(60_000, group, signal)
        polls[group] = (polls[group] ?? 0) + 1
      }
    }
    for (const group of ['many', 'many', 'many', 'one']) void request(group)
    await jest.advanceTimersByTimeAsync(30_000)
    expect(polls).toEqual({ many: expect.closeTo(60, -1), one: 60 })
  } finally {
    jest.useRealTimers()
  }
})

test('a request waits no longer than its time, until woken, or until its signal aborts', async () => {
  jest.useFakeTimers()
  try {
    const waiting = createWaiting()
    const abort = new AbortController()
    const ended: string[] = []
    void waiting.pause(200, 'a', abort.signal).then(() => ended.push('time'))
    await jest.advanceTimersByTimeAsync(200)
    void waiting.pause(400, 'a', abort.signal).then(() => ended.push('woken'))
    waiting.wake()
    await jest.advanceTimersByTimeAsync(0)
    void waiting.pause(400, 'a', abort.signal).then(() => ended.push('aborted'))
    abort.abort()
    await jest.advanceTimersByTimeAsync(0)
    expect(ended).toEqual(['time', 'woken', 'aborted'])
  } finally {
    jest.useRealTimers()
  }
})
