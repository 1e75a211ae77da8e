import { expect, test } from '@jest/globals'
import { backoffMs } from './backoff.ts'

test.each([
  [0, 100],
  [1, 100],
  [2, 200],
  [3, 400],
  [6, 3_000],
  [1_000_000, 3_000],
])('after %d failures, pauses between half and all of %d ms', (failures, longestMs) => {
  for (let round = 0; round < 50; round++) {
    const pause = backoffMs(failures, { minMs: 100, maxMs: 3_000 })
    expect(pause).toBeGreaterThanOrEqual(longestMs / 2)
    expect(pause).toBeLessThanOrEqual(longestMs)
  }
})

test('pauses are random, so that callers that failed together do not retry together', () => {
  const pauses = Array.from({ length: 20 }, () => backoffMs(1, { minMs: 1_000, maxMs: 1_000 }))
  expect(new Set(pauses).size).toBeGreaterThan(1)
})
