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
        { ...received, viewId: crypto.randomUUID(), quality: undefined, knownViewOnly: false },
        { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined },
      ),
    ),
  ),
]

test('the views of a batch are returned once, by the id of the batch', () => {
  const recent = createViewCache({ writer })
  const [one, other] = [views(3), views(2)]
  recent.keep('7', one)
  recent.keep('8', other)
  expect(recent.take('8', writer)).toBe(other)
  expect(recent.take('8', writer)).toBeUndefined()
  expect(recent.take('7', writer)).toBe(one)
})

test('beyond the maximum, the oldest entries are removed, even without reads', () => {
  const recent = createViewCache({ writer, max: 10 })
  for (let batch = 1; batch <= 1_000; batch++) recent.keep(String(batch), views(4))
  expect(Array.from({ length: 1_000 }, (_, nth) => recent.take(String(nth + 1), writer)).filter((found) => found)).toHaveLength(2)
  // A batch larger than the bound is not cached and must be read from the database.
  recent.keep('1001', views(11))
  expect(recent.take('1001', writer)).toBeUndefined()
})

test('an expired entry is removed when the next one is stored', () => {
  const clock = { now: 0 }
  const recent = createViewCache({ writer, now: () => clock.now })
  recent.keep('1', views(1))
  clock.now = 9_000
  recent.keep('2', views(1))
  clock.now = 11_000
  recent.keep('3', views(1))
  expect(recent.take('1', writer)).toBeUndefined()
  expect(recent.take('2', writer)).toHaveLength(1)
})

test('an expired entry is not returned, even if no other is stored after it', () => {
  const clock = { now: 0 }
  const recent = createViewCache({ writer, now: () => clock.now })
  recent.keep('1', views(1))
  recent.keep('2', views(1))
  clock.now = 9_000
  expect(recent.take('1', writer)).toHaveLength(1)
  clock.now = 10_000
  expect(recent.take('2', writer)).toBeUndefined()
})

test.each([
  ['another process', crypto.randomUUID()],
  ['an unknown process', null],
])('a batch that was written by %s is not returned', (_, other) => {
  const recent = createViewCache({ writer })
  recent.keep('1', views(1))
  expect(recent.take('1', other)).toBeUndefined()
})

test('a repeated batch id replaces the entry, and the maximum counts only the new one', () => {
  const recent = createViewCache({ writer, max: 10 })
  const [first, again] = [views(6), views(6)]
  recent.keep('1', first)
  recent.keep('1', again)
  recent.keep('2', views(4))
  expect(recent.take('1', writer)).toBe(again)
  expect(recent.take('2', writer)).toHaveLength(1)
})
