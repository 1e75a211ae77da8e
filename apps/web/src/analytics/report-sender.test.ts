import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createReportSender, MAX_LINES } from './report-sender.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function createFixture(statuses: number[]) {
  const posts: string[] = []
  const beacons: string[] = []
  const sender = createReportSender({
    async post(body) {
      posts.push(body)
      return statuses.shift() ?? 202
    },
    beacon: (body) => beacons.push(body) > 0,
  })
  return { sender, posts, beacons }
}

test('lines that are added within 3 s are sent together, and once', async () => {
  const { sender, posts, beacons } = createFixture([])
  sender.send('a\n')
  sender.send('b\nc\n')
  expect(posts).toEqual([])
  await jest.advanceTimersByTimeAsync(60_000)
  sender.stop()
  expect([posts, beacons]).toEqual([['a\nb\nc'], []])
})

test('lines are sent again after an outage, with later lines, and not after a rejection', async () => {
  const { sender, posts } = createFixture([503, 0, 202, 400])
  sender.send('a')
  await jest.advanceTimersByTimeAsync(3_000)
  sender.send('b')
  await jest.advanceTimersByTimeAsync(10_000)
  await jest.advanceTimersByTimeAsync(20_000)
  expect(posts).toEqual(['a', 'a\nb', 'a\nb'])
  sender.send('c')
  await jest.advanceTimersByTimeAsync(600_000)
  expect(posts.slice(3)).toEqual(['c'])
})

test('the queue is limited', async () => {
  const { sender, posts } = createFixture([503])
  for (let nth = 0; nth < 2 * MAX_LINES; nth++) sender.send(`${nth}\n`)
  await jest.advanceTimersByTimeAsync(3_000)
  expect(posts[0]?.split('\n')).toHaveLength(MAX_LINES)
})

test('a page that may close sends the waiting lines by beacon, and they are not sent again', async () => {
  const { sender, posts, beacons } = createFixture([])
  sender.send('a')
  sender.sendBeacon()
  sender.sendBeacon()
  await jest.advanceTimersByTimeAsync(60_000)
  expect([posts, beacons]).toEqual([[], ['a']])
  sender.send('b')
  sender.stop()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(posts).toEqual([])
})
