import { expect, test } from '@jest/globals'
import { gather } from '../view/gathered.ts'
import { keep } from './event.ts'
import { createRecentViews } from './recent-views.ts'

const writer = crypto.randomUUID()
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
  const recent = createRecentViews({ writer })
  const [one, other] = [views(3), views(2)]
  recent.keep('7', one)
  recent.keep('8', other)
  expect(recent.take('8', writer)).toBe(other)
  expect(recent.take('8', writer)).toBeUndefined()
  expect(recent.take('7', writer)).toBe(one)
})

test('beyond its bound the oldest are gone, however long nobody asks', () => {
  const recent = createRecentViews({ writer, most: 10 })
  for (let batch = 1; batch <= 1_000; batch++) recent.keep(String(batch), views(4))
  expect(Array.from({ length: 1_000 }, (_, nth) => recent.take(String(nth + 1), writer)).filter((found) => found)).toHaveLength(2)
  // Larger than the bound by itself: it is read from the database.
  recent.keep('1001', views(11))
  expect(recent.take('1001', writer)).toBeUndefined()
})

test('what nobody asked for in time is gone when the next is kept', () => {
  const clock = { now: 0 }
  const recent = createRecentViews({ writer, now: () => clock.now })
  recent.keep('1', views(1))
  clock.now = 9_000
  recent.keep('2', views(1))
  clock.now = 11_000
  recent.keep('3', views(1))
  expect(recent.take('1', writer)).toBeUndefined()
  expect(recent.take('2', writer)).toHaveLength(1)
})

test('what nobody asked for in time is not had either when nothing is kept after it', () => {
  const clock = { now: 0 }
  const recent = createRecentViews({ writer, now: () => clock.now })
  recent.keep('1', views(1))
  recent.keep('2', views(1))
  clock.now = 9_000
  expect(recent.take('1', writer)).toHaveLength(1)
  clock.now = 10_000
  expect(recent.take('2', writer)).toBeUndefined()
})

test.each([
  ['another process', crypto.randomUUID()],
  ['nobody says who', null],
])('what has a number that %s wrote is not had', (_, other) => {
  const recent = createRecentViews({ writer })
  recent.keep('1', views(1))
  expect(recent.take('1', other)).toBeUndefined()
})

test('a number that comes again is that of the later one, and the bound knows only that', () => {
  const recent = createRecentViews({ writer, most: 10 })
  const [first, again] = [views(6), views(6)]
  recent.keep('1', first)
  recent.keep('1', again)
  recent.keep('2', views(4))
  expect(recent.take('1', writer)).toBe(again)
  expect(recent.take('2', writer)).toHaveLength(1)
})
