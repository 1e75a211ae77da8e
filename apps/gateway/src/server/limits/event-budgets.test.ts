import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { DEFAULT_LIMITS, type Limits, localBudgets } from '@vitascope/rate-limit'
import { type CountedEvent, createEventBudgets } from './event-budgets.ts'
import { createLimiter, type Payer } from './limiter.ts'

const at = Date.parse('2030-05-10T12:00:00Z')
const buildEvent = (more: Partial<CountedEvent> = {}): CountedEvent => ({ video_id: '42', view_id: randomUUID(), at, ...more })
const events = (count: number, more: Partial<CountedEvent> = {}) => Array.from({ length: count }, () => buildEvent(more))

/**
 * Sends events of an address. Returns the indexes of events that count only if their view is
 * stored, or the policy that rejected the request.
 */
function budgets(limits: Partial<Limits>) {
  const all = { ...DEFAULT_LIMITS, ...limits }
  const created = createEventBudgets(all, createLimiter(all), localBudgets)
  return async (sent: readonly CountedEvent[], { address = '192.0.2.1', userAgent = 'a browser', malformed = 0, fail = false } = {}) => {
    const payer: Payer = { policy: 'address', address }
    try {
      const { result } = await created.admit(sent, { payer, address, userAgent, malformed }, async (knownOnly) => {
        if (fail) throw new Error('the service is unavailable')
        return [...knownOnly].sort((a, b) => a - b)
      })
      return result
    } catch (error) {
      const { headers } = error as { headers?: Record<string, string> }
      return headers?.['RateLimit-Policy']?.split(';')[0] ?? String(error)
    }
  }
}
const from = (nth: number) => Array.from({ length: 100 - nth }, (_, index) => nth + index)

test('an event costs one point, and one more per ten intervals', async () => {
  const send = budgets({ events: 60, burst: 4 })
  // The request itself consumed one of the 240 points.
  expect(await send(events(100))).toEqual([])
  expect(await send([buildEvent({ watched: Array(1_000).fill([0, 1]) })])).toEqual([])
  expect(await send(events(50))).toBe('"events"')
  expect(await send(events(39))).toEqual([])
  expect(await send(events(50), { address: '192.0.2.2', malformed: 100 })).toEqual([])
  expect(await send([], { address: '192.0.2.2', malformed: 100 })).toBe('"events"')
})

test('a request larger than the budget passes if the budget is unused', async () => {
  const send = budgets({ events: 1, burst: 1 })
  expect(await send(events(100))).toEqual([])
})

test('above the limit of new views per video, only events of stored views count', async () => {
  const send = budgets({ views: 150 })
  const first = events(100)
  expect(await send(first)).toEqual([])
  expect(await send(events(100))).toEqual(from(50))
  expect(await send(events(100))).toEqual(from(0))
  // Views that started before continue, however many events they have.
  expect(await send([...first.slice(0, 5), buildEvent(), ...first.slice(5, 9)])).toEqual([5])
  expect(await send(events(100, { video_id: '43' }))).toEqual([])
  expect(await send(events(100), { address: '192.0.2.2' })).toEqual([])
})

test('events of one new view count as one view', async () => {
  const send = budgets({ views: 2 })
  const [one, other, third] = [randomUUID(), randomUUID().toUpperCase(), randomUUID()]
  const sent = [one, other, one, third, other.toLowerCase(), third].map((view_id) => buildEvent({ view_id }))
  expect(await send(sent)).toEqual([3, 5])
})

test('new views of a /48 are four times those of a /64', async () => {
  const send = budgets({ views: 25 })
  for (let network = 0; network < 4; network++) expect(await send(events(25), { address: `2001:db8:1:${network}::1` })).toEqual([])
  expect(await send(events(25), { address: '2001:db8:1:4::1' })).toHaveLength(25)
  expect(await send(events(25), { address: '2001:db8:2::1' })).toEqual([])
})

/** Sends until a request is rejected. Returns the number of accepted events. */
async function sendAll(
  send: ReturnType<typeof budgets>,
  make: (nth: number) => { sent: CountedEvent[]; userAgent?: string },
): Promise<number> {
  for (let nth = 0, count = 0; ; nth++) {
    const { sent, ...sender } = make(nth)
    const result = await send(sent, sender)
    if (result === '"event_bytes"') return count
    expect(result).toEqual([])
    count += sent.length
  }
}

test('the bytes that one address adds to the database per hour are bounded', async () => {
  const open = { event_mb: 13, events: 1_000_000, views: 1_000_000 }
  const oneView = buildEvent()
  const known = await sendAll(budgets(open), () => ({ sent: Array(100).fill(oneView) }))
  const views = await sendAll(budgets(open), () => ({ sent: events(100) }))
  const intervals = await sendAll(budgets(open), () => ({ sent: [{ ...oneView, watched: Array(1_000).fill([0, 1]) }] }))
  const languages = await sendAll(budgets(open), (nth) => ({ sent: [{ ...oneView, language: `l${nth}` }] }))
  const viewers = await sendAll(budgets(open), (nth) => ({ sent: [oneView], userAgent: `browser ${nth}` }))
  // The budget is 1 MB per five minutes.
  expect(known).toBeLessThan(1e6 / 160)
  expect(views).toBeLessThan(1e6 / 930)
  expect(intervals).toBeLessThan(1e6 / 8_000)
  expect(languages).toBeLessThan(1e6 / 1_400)
  expect(viewers).toBeLessThan(1e6 / 500)
})

test('500 viewers behind one address who report every 10 s stay within the limits', async () => {
  const send = budgets({})
  const views = Array.from({ length: 500 }, () => randomUUID())
  const sendEvent = async (userAgent: string, view_id: string) =>
    expect(await send([buildEvent({ view_id, language: 'en', watched: [[0, 10]] })], { userAgent })).toEqual([])
  for (let round = 0; round < 3; round++) {
    for (const [nth, view] of views.entries()) await sendEvent(`browser ${nth % 20}`, view)
  }
})

test('events that could not be stored use no bytes', async () => {
  const send = budgets({ event_mb: 1 })
  for (let nth = 0; nth < 10; nth++) expect(await send(events(40), { fail: true })).toContain('the service is unavailable')
  expect(await send(events(40))).toEqual([])
  expect(await send(events(40))).toBe('"event_bytes"')
})

test('new views that could not be stored use no views', async () => {
  const send = budgets({ views: 50 })
  for (let nth = 0; nth < 10; nth++) expect(await send(events(40), { fail: true })).toContain('the service is unavailable')
  expect(await send(events(60))).toEqual(from(50).slice(0, 10))
})
