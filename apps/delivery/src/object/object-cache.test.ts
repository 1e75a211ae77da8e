import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { createObjectCache } from './object-cache.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const object = (bytes: number) => ({ content: Buffer.alloc(bytes), modified: new Date(0) })
const createCache = (maxBytes: number) => createObjectCache(maxBytes, createMetrics('test'))

/** Calls the cache as one HTTP request for an object does. Returns whether the object was in memory. */
function request(cache: ReturnType<typeof createCache>, name: string, bytes: number): boolean {
  if (cache.get(name)) return true
  if (cache.isCandidate(name) && cache.admits(name, bytes)) cache.set(name, object(bytes))
  return false
}

test('an object is cached on its second request', () => {
  const cache = createCache(1_000)
  expect([1, 2, 3].map(() => request(cache, 'a', 600))).toEqual([false, false, true])
})

test('objects that are requested once or twice do not replace a popular one', () => {
  const cache = createCache(1_000)
  for (let nth = 0; nth < 10; nth++) request(cache, 'popular', 600)
  for (let nth = 0; nth < 100; nth++) for (let times = 0; times < 2; times++) request(cache, `rare ${nth}`, 600)
  expect(request(cache, 'popular', 600)).toBe(true)
})

test('an object with more requests than the cached object replaces it', () => {
  const cache = createCache(1_000)
  for (let nth = 0; nth < 50; nth++) request(cache, 'old', 600)
  for (let nth = 0; nth < 60; nth++) {
    request(cache, 'new', 600)
    jest.advanceTimersByTime(1_000)
  }
  expect(request(cache, 'new', 600)).toBe(true)
  expect(request(cache, 'old', 600)).toBe(false)
})

test.each([
  ['larger than 4 MiB', 64 * 1024 * 1024, 4 * 1024 * 1024 + 1],
  ['larger than the cache', 1_000, 1_001],
  ['of any size with a cache of 0 bytes', 0, 1],
])('an object %s is never cached', (_, maxBytes, bytes) => {
  const cache = createCache(maxBytes)
  expect([1, 2, 3, 4].map(() => request(cache, 'a', bytes))).toEqual([false, false, false, false])
})

test('an object that was not admitted is not a candidate for five seconds', () => {
  const cache = createCache(1_000)
  for (let nth = 0; nth < 3; nth++) cache.get('large')
  expect([cache.isCandidate('large'), cache.admits('large', 1_001), cache.isCandidate('large')]).toEqual([true, false, false])
  jest.advanceTimersByTime(5_001)
  expect(cache.isCandidate('large')).toBe(true)
})
