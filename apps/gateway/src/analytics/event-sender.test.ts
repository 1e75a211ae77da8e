import { describe, expect, test } from '@jest/globals'
import { DomainError } from '@vitascope/errors'
import type { AcceptEventsRequest, Event } from '@vitascope/proto/analytics/v1/event'
import { createEventSender } from './event-sender.ts'

/** Analytics that answers when it is let: each request with the number of its events. */
function standIn({ refuse }: { refuse?: (requests: readonly AcceptEventsRequest[]) => Error | undefined } = {}) {
  const calls: AcceptEventsRequest[][] = []
  const waiting: (() => void)[] = []
  const answer = async (requests: readonly AcceptEventsRequest[]) => {
    calls.push([...requests])
    await new Promise<void>((resolve) => waiting.push(resolve))
    const error = refuse?.(requests)
    if (error) throw error
    return requests.map(({ events }) => ({ accepted: events.length, rejected: [] }))
  }
  const sender = createEventSender({
    acceptEvents: async (request) => (await answer([request]))[0] ?? { accepted: 0, rejected: [] },
    acceptEventBatch: async ({ requests }) => ({ responses: await answer(requests) }),
  })
  /** Answers whatever is asked from now on too, until everything has come back. */
  const settle = async <T>(sent: Promise<T>) => {
    const timer = setInterval(() => {
      for (const go of waiting.splice(0)) go()
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
    quality: undefined,
  }
  return { events: Array<Event>(events).fill(event), userAgent: 'a browser', clientAddress: address }
}
const many = (count: number) => Array.from({ length: count }, (_, nth) => request(String(nth), (nth % 7) + 1))

describe('what players send', () => {
  test('goes alone when nobody else comes', async () => {
    const { sender, calls, settle } = standIn()
    expect(await settle(sender.send(request('a', 3), 'r'))).toEqual({ accepted: 3, rejected: [] })
    expect(calls).toHaveLength(1)
  })
  test('goes together when many come at once, and each gets its own answer', async () => {
    const { sender, calls, settle } = standIn()
    const requests = many(200)
    const answers = await settle(Promise.all(requests.map((one) => sender.send(one, 'r'))))
    expect(answers.map(({ accepted }) => accepted)).toEqual(requests.map(({ events }) => events.length))
    expect(calls.flat()).toHaveLength(200)
    expect(calls.length).toBeLessThan(10)
  })
  test('makes no message larger than one may be', async () => {
    const { sender, calls, settle } = standIn()
    await settle(Promise.all(Array.from({ length: 20 }, () => sender.send(request('a', 10, 1_000), 'r'))))
    expect(calls.flat()).toHaveLength(20)
    for (const call of calls) expect(call.length).toBeLessThanOrEqual(4)
  })
})

describe('of many together', () => {
  const unavailable = (reason: string) => new DomainError('unavailable', reason, 'try again')
  const isOf = (address: string) => (requests: readonly AcceptEventsRequest[]) => requests.some((one) => one.clientAddress === address)
  test.each([
    ['a video cannot be checked', unavailable('VIDEO_UNCHECKED')],
    ['analytics knows no calls of many', new Error('UNIMPLEMENTED')],
  ])('only those concerned are refused where %s', async (_, error) => {
    const concerned = isOf('7')
    const { sender, settle } = standIn({ refuse: (requests) => (concerned(requests) ? error : undefined) })
    const answers = await settle(Promise.allSettled(many(50).map((one) => sender.send(one, 'r'))))
    expect(answers.flatMap(({ status }, nth) => (status === 'rejected' ? [nth] : []))).toEqual([7])
  })
  test('all are refused, and asked for no more, where there is no room', async () => {
    const { sender, calls, settle } = standIn({ refuse: () => unavailable('INTAKE_FULL') })
    const answers = await settle(Promise.allSettled(many(50).map((one) => sender.send(one, 'r'))))
    expect(answers.every((one) => one.status === 'rejected' && one.reason.reason === 'INTAKE_FULL')).toBe(true)
    expect(calls.flat()).toHaveLength(50)
  })
})
