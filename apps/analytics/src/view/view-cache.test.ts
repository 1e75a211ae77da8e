import { expect, test } from '@jest/globals'
import { toStoredEvent } from '../event/event.ts'
import { batchViews } from './view-batch.ts'
import { createViewCache } from './view-cache.ts'

const writer = crypto.randomUUID()
const received = { videoId: '1', viewId: crypto.randomUUID(), type: 1, atMs: 0, watched: [], rewatched: [], language: '', subtitle: '' }
const views = (count: number) => [
  batchViews(
    Array.from({ length: count }, () =>
      toStoredEvent(
        { ...received, viewId: crypto.randomUUID(), quality: undefined, referrer: '', knownViewOnly: false },
        { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined },
      ),
    ),
  ),
]

test('the views of a batch are returned once, by the id of the batch', () => {
  const cache = createViewCache({ writer })
  const [first, second] = [views(3), views(2)]
  cache.add('7', first)
  cache.add('8', second)
  expect(cache.remove('8', writer)).toBe(second)
  expect(cache.remove('8', writer)).toBeUndefined()
  expect(cache.remove('7', writer)).toBe(first)
})

test('beyond the maximum, the oldest entries are removed, even without reads', () => {
  const cache = createViewCache({ writer, max: 10 })
  for (let batch = 1; batch <= 1_000; batch++) cache.add(String(batch), views(4))
  expect(Array.from({ length: 1_000 }, (_, nth) => cache.remove(String(nth + 1), writer)).filter((removed) => removed)).toHaveLength(2)
  // A batch larger than the bound is not cached and must be read from the database.
  cache.add('1001', views(11))
  expect(cache.remove('1001', writer)).toBeUndefined()
})

test('an expired entry is removed when the next one is stored', () => {
  const clock = { now: 0 }
  const cache = createViewCache({ writer, now: () => clock.now })
  cache.add('1', views(1))
  clock.now = 9_000
  cache.add('2', views(1))
  clock.now = 11_000
  cache.add('3', views(1))
  expect(cache.remove('1', writer)).toBeUndefined()
  expect(cache.remove('2', writer)).toHaveLength(1)
})

test('an expired entry is not returned, even if no other is stored after it', () => {
  const clock = { now: 0 }
  const cache = createViewCache({ writer, now: () => clock.now })
  cache.add('1', views(1))
  cache.add('2', views(1))
  clock.now = 9_000
  expect(cache.remove('1', writer)).toHaveLength(1)
  clock.now = 10_000
  expect(cache.remove('2', writer)).toBeUndefined()
})

test.each([
  ['another process', crypto.randomUUID()],
  ['an unknown process', null],
])('a batch that was written by %s is not returned', (_, other) => {
  const cache = createViewCache({ writer })
  cache.add('1', views(1))
  expect(cache.remove('1', other)).toBeUndefined()
})

test('a repeated batch id replaces the entry, and the maximum counts only the new one', () => {
  const cache = createViewCache({ writer, max: 10 })
  const [first, second] = [views(6), views(6)]
  cache.add('1', first)
  cache.add('1', second)
  cache.add('2', views(4))
  expect(cache.remove('1', writer)).toBe(second)
  expect(cache.remove('2', writer)).toHaveLength(1)
})
