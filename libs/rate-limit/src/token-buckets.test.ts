import { expect, jest, test } from '@jest/globals'
import { createTokenBuckets } from './token-buckets.ts'

let now = 0
jest.spyOn(performance, 'now').mockImplementation(() => now)

test('a bucket is empty after its capacity, and gains tokens with time up to its capacity', () => {
  const buckets = createTokenBuckets({ perSecond: 10, capacity: 20 })
  expect(buckets.wait('a')).toBe(0)
  buckets.take('a', 19)
  expect(buckets.wait('a')).toBe(0)
  buckets.take('a', 1)
  expect(buckets.wait('a')).toBeCloseTo(0.1)
  now += 100
  expect(buckets.wait('a')).toBe(0)
  now += 3_600_000
  buckets.take('a', 20)
  expect([buckets.wait('a'), buckets.wait('b')]).toEqual([0.1, 0])
})

test('tokens that were taken beyond the capacity are gained first', () => {
  const buckets = createTokenBuckets({ perSecond: 10, capacity: 20 })
  buckets.take('a', 70)
  expect(buckets.wait('a')).toBeCloseTo(5.1)
  now += 4_950
  expect(buckets.wait('a')).toBeCloseTo(0.15)
  now += 200
  expect(buckets.wait('a')).toBe(0)
})

test('the number of buckets is bounded, and the one that was used longest ago is removed', () => {
  const buckets = createTokenBuckets({ perSecond: 1, capacity: 1 })
  for (let nth = 0; nth < 50_000; nth++) buckets.take(`${nth}`, 5)
  expect(buckets.wait('0')).toBeCloseTo(5)
  buckets.take('another', 5)
  expect([buckets.size(), buckets.wait('1'), buckets.wait('0') > 0]).toEqual([50_000, 0, true])
})
