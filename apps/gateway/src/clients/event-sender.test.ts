import { describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import { AcceptEventBatchRequest, type AcceptEventsRequest, type Event } from '@vitascope/proto/analytics/v1/event'
import { createMetrics } from '@vitascope/telemetry'
import { createEventSender } from './event-sender.ts'

/**
 * Creates a sender for an analytics service whose responses the test releases. `calls` has the
 * requests of each call.
 */
function startSender({ errorFor }: { errorFor?: (requests: readonly AcceptEventsRequest[]) => Error | undefined } = {}) {
  const calls: AcceptEventsRequest[][] = []
  const waiting: (() => void)[] = []
  const respond = async (requests: readonly AcceptEventsRequest[]) => {
    calls.push([...requests])
    await new Promise<void>((resolve) => waiting.push(resolve))
    const error = errorFor?.(requests)
    if (error) throw error
    return requests.map(({ events }) => ({ accepted: events.length, rejected: [] }))
  }
  const analytics = {
    acceptEvents: async (request: AcceptEventsRequest) => (await respond([request]))[0] ?? { accepted: 0, rejected: [] },
    acceptEventBatch: async ({ requests }: AcceptEventBatchRequest) => ({ responses: await respond(requests) }),
  }
  const sender = createEventSender(analytics, createMetrics('gateway'))
  /** Releases all responses, including those of later calls, until `sent` settles. */
  const settle = async <T>(sent: Promise<T>) => {
    const timer = setInterval(() => {
      for (const release of waiting.splice(0)) release()
    }, 1)
    return await sent.finally(() => clearInterval(timer))
  }
  return { sender, calls, settle }
}

const request = (address: string, events = 1, intervals = 0): AcceptEventsRequest => {
  const watched = Array.from({ length: intervals }, () => ({ fromSeconds: 0, toSeconds: 1 }))
  const event: Event = {
    videoId: '1',
    viewId: 'v',
    type: 'EVENT_TYPE_LOAD',
    atMs: 0,
    watched,
    rewatched: [],
    language: '',
    subtitle: '',
    referrer: '',
    quality: undefined,
    knownViewOnly: false,
  }
  return { events: Array<Event>(events).fill(event), userAgent: 'a browser', clientAddress: address }
}
const createRequests = (count: number) => Array.from({ length: count }, (_, index) => request(String(index), (index % 7) + 1))

describe('events of players', () => {
  test('are sent at once if no others are pending', async () => {
    const { sender, calls, settle } = startSender()
    expect(await settle(sender.send(request('a', 3), 'r'))).toEqual({ accepted: 3, rejected: [] })
    expect(calls).toHaveLength(1)
  })
  test('are batched if many arrive together, and each request gets its own response', async () => {
    const { sender, calls, settle } = startSender()
    const requests = createRequests(200)
    const responses = await settle(Promise.all(requests.map((one) => sender.send(one, 'r'))))
    expect(responses.map(({ accepted }) => accepted)).toEqual(requests.map(({ events }) => events.length))
    expect(calls.flat()).toHaveLength(200)
    expect(calls.length).toBeLessThan(10)
  })
  test('are split into messages below the size limit', async () => {
    const { sender, calls, settle } = startSender()
    await settle(Promise.all(Array.from({ length: 20 }, () => sender.send(request('a', 10, 1_000), 'r'))))
    expect(calls.flat()).toHaveLength(20)
    for (const call of calls) expect(call.length).toBeLessThanOrEqual(4)
  })
  test.each(['x', '\u20ac', '\ud83c\udfac'])('stay below the message limit with texts of maximum length, all of %j', async (letter) => {
    const { sender, calls, settle } = startSender()
    const text = (characters: number) => letter.repeat(characters)
    const quality = { startupMs: 1.5, stalls: 1_000_000, stalledMs: 86_400_000, switches: 1_000_000, error: text(100) }
    const texts = { videoId: text(300), viewId: text(100), language: text(35), subtitle: text(35), quality }
    const buildLargeRequest = (address: string) => {
      const { events, ...from } = request(address, 100)
      return { ...from, userAgent: '\u00e4'.repeat(500), events: events.map((event) => ({ ...event, positionSeconds: 12.5, ...texts })) }
    }
    await settle(Promise.all(Array.from({ length: 80 }, () => sender.send(buildLargeRequest('192.0.2.1'), 'r'))))
    expect(calls.flat()).toHaveLength(80)
    const bytes = calls.map((requests) => AcceptEventBatchRequest.encode({ requests }).finish().length)
    expect(Math.max(...bytes)).toBeLessThan(4 * 1024 * 1024)
    // The requests are still batched.
    expect(calls.length).toBeLessThanOrEqual(40)
  })
  test('are batched to at least 40 requests per message', async () => {
    const { sender, calls, settle } = startSender()
    const fullRequest = (index: number) => {
      const { events, ...from } = request(`192.0.2.${index}`, 100, 1)
      const texts = { videoId: '1234567', viewId: crypto.randomUUID(), language: 'en', subtitle: 'de' }
      return { ...from, userAgent: 'm'.repeat(120), events: events.map((event) => ({ ...event, ...texts })) }
    }
    await settle(Promise.all(Array.from({ length: 100 }, (_, index) => sender.send(fullRequest(index), 'r'))))
    expect(Math.max(...calls.map((call) => call.length))).toBeGreaterThanOrEqual(40)
  })
})

describe('errors of a batch', () => {
  const unavailable = (reason: string) => new DomainError('unavailable', reason, 'try again')
  const isFrom = (address: string) => (requests: readonly AcceptEventsRequest[]) => requests.some((one) => one.clientAddress === address)
  test.each([
    ['a video cannot be checked', unavailable('VIDEO_UNCHECKED')],
    ['analytics does not implement batches', new Error('UNIMPLEMENTED')],
  ])('only the affected requests are rejected if %s', async (_, error) => {
    const isAffected = isFrom('7')
    const { sender, settle } = startSender({ errorFor: (requests) => (isAffected(requests) ? error : undefined) })
    const responses = await settle(Promise.allSettled(createRequests(50).map((one) => sender.send(one, 'r'))))
    expect(responses.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([7])
  })
  test('all requests are rejected without a retry if analytics is full', async () => {
    const { sender, calls, settle } = startSender({ errorFor: () => unavailable('INTAKE_FULL') })
    const responses = await settle(Promise.allSettled(createRequests(50).map((one) => sender.send(one, 'r'))))
    expect(responses.every((one) => one.status === 'rejected' && one.reason.reason === 'INTAKE_FULL')).toBe(true)
    expect(calls.flat()).toHaveLength(50)
  })
})
