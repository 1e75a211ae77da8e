import { expect, test } from '@jest/globals'
import { gather } from '../view/gathered.ts'
import { keep } from './event.ts'
import { createRecentViews } from './recent-views.ts'

const told = { videoId: '1', viewId: crypto.randomUUID(), type: 1, atMs: 0, watched: [], rewatched: [], language: '', subtitle: '' }
const views = (count: number) => [
  gather(
    Array.from({ length: count }, () =>
      keep(
        { ...told, viewId: crypto.randomUUID(), quality: undefined },
        { organisationId: '1', durationMs: 0, receivedMs: 0, visitor: undefined },
      ),
    ),
  ),
]

test('what was written is had once, by the number of its insert', () => {
  const recent = createRecentViews()
  const [one, other] = [views(3), views(2)]
  recent.keep('7', one)
  recent.keep('8', other)
  expect(recent.take('8')).toBe(other)
  expect(recent.take('8')).toBeUndefined()
  expect(recent.take('7')).toBe(one)
})

test('beyond its bound the oldest are gone, however long nobody asks', () => {
  const recent = createRecentViews({ most: 10 })
  for (let batch = 1; batch <= 1_000; batch++) recent.keep(String(batch), views(4))
  expect(Array.from({ length: 1_000 }, (_, nth) => recent.take(String(nth + 1))).filter((found) => found)).toHaveLength(2)
  // Larger than the bound by itself: it is read from the database.
  recent.keep('1001', views(11))
  expect(recent.take('1001')).toBeUndefined()
})

test('what nobody asked for in time is gone when the next is kept', () => {
  const clock = { now: 0 }
  const recent = createRecentViews({ now: () => clock.now })
  recent.keep('1', views(1))
  clock.now = 9_000
  recent.keep('2', views(1))
  clock.now = 11_000
  recent.keep('3', views(1))
  expect(recent.take('1')).toBeUndefined()
  expect(recent.take('2')).toHaveLength(1)
})
