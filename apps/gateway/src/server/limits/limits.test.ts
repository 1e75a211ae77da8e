import { describe, expect, test } from '@jest/globals'
import { DEFAULT_LIMITS, parseLimits } from '@vitascope/rate-limit'
import { type ConcurrencyLimit, createConcurrencyLimit } from './adaptive-concurrency-limit.ts'
import { createLimiter } from './limiter.ts'

test.each([
  ['default', DEFAULT_LIMITS],
  ['off', 'off'],
  ['{}', DEFAULT_LIMITS],
  ['{"key": 5, "cost": {"work": 3}}', { ...DEFAULT_LIMITS, key: 5, cost: { read: 1, write: 1, work: 3 } }],
])('parses %s', (text, limits) => {
  expect(parseLimits(text)).toEqual({ limits })
})

test.each([
  'on',
  '[]',
  '{"keys":1}',
  '{"key":0}',
  '{"key":"5"}',
  '{"key":1.5}',
  '{"cost":1}',
  '{"cost":{"delete":1}}',
  '{"cost":{"read":0}}',
  '{"cost":{"work":201}}',
])('rejects %s', (text) => {
  expect(parseLimits(text).problems).toHaveLength(1)
})

const limits = { ...DEFAULT_LIMITS, key: 3, address: 2, failed: 1, burst: 2 }
const countAdmitted = async (times: number, take: () => Promise<unknown>) => {
  let ok = 0
  for (let i = 0; i < times; i++)
    await take().then(
      () => ok++,
      () => {},
    )
  return ok
}

test('each payer has a budget of the rate times the burst', async () => {
  const limiter = createLimiter(limits)
  expect(await countAdmitted(10, () => limiter.consume({ policy: 'key', keyId: '1' }, 'read'))).toBe(6)
  expect(await countAdmitted(10, () => limiter.consume({ policy: 'key', keyId: '2' }, 'read'))).toBe(6)
  expect(await countAdmitted(10, () => limiter.consume({ policy: 'address', address: '203.0.113.1' }, 'read'))).toBe(4)
})

test('a request costs the points of its cost class', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  expect(await countAdmitted(10, () => limiter.consume({ policy: 'key', keyId: '1' }, 'write'))).toBe(3)
  expect(await countAdmitted(10, () => limiter.consume({ policy: 'key', keyId: '2' }, 'work'))).toBe(1)
})

test('a rejected request uses none of the budget', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  const payer = { policy: 'key', keyId: '1' } as const
  await limiter.consume(payer, 'read')
  for (let count = 0; count < 3; count++) {
    await expect(limiter.consume(payer, 'work')).rejects.toMatchObject({ headers: { RateLimit: expect.stringContaining(';r=5;') } })
  }
  expect(await countAdmitted(10, () => limiter.consume(payer, 'read'))).toBe(5)
})

test('one address may send 10 submissions per minute to a contact form, unless limits are off', async () => {
  const limiter = createLimiter(DEFAULT_LIMITS)
  expect(await countAdmitted(12, () => limiter.countSubmission('192.0.2.1', '7'))).toBe(10)
  expect(await countAdmitted(1, () => limiter.countSubmission('192.0.2.1', '8'))).toBe(1)
  expect(await countAdmitted(1, () => limiter.countSubmission('192.0.2.2', '7'))).toBe(1)
  expect(await countAdmitted(20, () => createLimiter('off').countSubmission('192.0.2.1', '7'))).toBe(20)
  await expect(limiter.countSubmission('192.0.2.1', '7')).rejects.toMatchObject({
    headers: { 'RateLimit-Policy': '"submission";q=10;w=60' },
  })
})

test('headers have the remaining budget, and a rejection has Retry-After', async () => {
  const limiter = createLimiter(limits)
  const take = () => limiter.consume({ policy: 'key', keyId: '1' }, 'read')
  expect(await take()).toEqual({ 'RateLimit-Policy': '"key";q=6;w=2', RateLimit: '"key";r=5;t=2' })
  await countAdmitted(5, take)
  await expect(take()).rejects.toMatchObject({
    kind: 'exhausted',
    reason: 'RATE_LIMITED',
    retryAfter: 2,
    headers: { RateLimit: '"key";r=0;t=2' },
  })
})

test('addresses of one IPv6 network share a budget', async () => {
  const limiter = createLimiter(limits)
  const from = (address: string) => () => limiter.consume({ policy: 'address', address }, 'read')
  expect(await countAdmitted(3, from('2001:db8::1'))).toBe(3)
  expect(await countAdmitted(3, from('2001:db8:0:0:ffff::2'))).toBe(1)
  expect(await countAdmitted(3, from('2001:db8:0:1::1'))).toBe(3)
})

test('a /48 has four times the budget of a /64', async () => {
  const limiter = createLimiter({ ...limits, events: 2 })
  for (const [cost, points] of [
    ['read', 16],
    ['event', 16],
  ] as const) {
    let network = 0
    const send = () => limiter.consume({ policy: 'address', address: `2001:db8:1:${(++network).toString(16)}::1` }, cost)
    expect(await countAdmitted(100, send)).toBe(points)
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('/48') })
    expect(await countAdmitted(1, () => limiter.consume({ policy: 'address', address: '2001:db8:2::1' }, cost))).toBe(1)
  }
})

test('a rejection for the /48 uses none of the budget of the /64', async () => {
  const limiter = createLimiter(limits)
  const take = (address: string) => () => limiter.consume({ policy: 'address', address }, 'read')
  for (let network = 1; network <= 4; network++) expect(await countAdmitted(4, take(`2001:db8:1:${network}::1`))).toBe(4)
  await expect(take('2001:db8:1:5::1')()).rejects.toMatchObject({ headers: { 'RateLimit-Policy': '"address_48";q=16;w=2' } })
})

test('a contact form accepts 20 submissions per minute of a /48, and 1,000 in all', async () => {
  const limiter = createLimiter(DEFAULT_LIMITS)
  let nth = 0
  expect(await countAdmitted(100, () => limiter.countSubmission(`2001:db8:1:${(++nth).toString(16)}::1`, '7'))).toBe(20)
  expect(await countAdmitted(1_200, () => limiter.countSubmission(`2001:db8:${(++nth).toString(16)}::1`, '7'))).toBe(980)
  await expect(limiter.countSubmission('192.0.2.1', '7')).rejects.toMatchObject({
    headers: { 'RateLimit-Policy': '"submission_form";q=1000;w=60' },
  })
  expect(await countAdmitted(1, () => limiter.countSubmission('192.0.2.1', '8'))).toBe(1)
})

test('failed keys have a separate budget, which limits the look-ups when it is used up', async () => {
  const limiter = createLimiter(limits)
  const lookUp = () => limiter.countKeyLookup('203.0.113.1')
  expect(await countAdmitted(100, lookUp)).toBe(100)
  expect(await countAdmitted(3, () => limiter.countInvalidKey('203.0.113.1'))).toBe(2)
  expect(await countAdmitted(100, lookUp)).toBe(20)
  await limiter.countKeyLookup('203.0.113.2')
})

test('reads are rejected before writes', () => {
  const limit = createConcurrencyLimit({ min: 4, initial: 4, max: 4 })
  let callers = 0
  const begin = (kind: 'read' | 'write') => limit.begin(kind, `key ${++callers}`)
  const running = [begin('read'), begin('read'), begin('write'), begin('read')]
  expect([limit.isFull('read'), limit.isFull('write')]).toEqual([true, false])
  expect(() => begin('read')).toThrow(expect.objectContaining({ reason: 'OVERLOADED', retryAfter: 1 }))
  running.push(begin('write'))
  expect(() => begin('write')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
  for (const { end } of running) end(true)
  running[0]?.end(true)
  expect([begin('read'), begin('read'), begin('read'), begin('read')]).toHaveLength(4)
  expect(() => begin('read')).toThrow()
})

test('half of the slots are reserved for reads', () => {
  const limit = createConcurrencyLimit({ min: 8, initial: 8, max: 16 })
  for (let nth = 0; nth < 12; nth++) limit.begin('write', `writer ${nth}`)
  expect(limit.isFull('write')).toBe(true)
  for (let nth = 0; nth < 4; nth++) limit.begin('read', `key ${nth}`)
  expect(limit.isFull('read')).toBe(true)
})

test('one caller may use a quarter of the slots, and releases them when requests end', () => {
  const limit = createConcurrencyLimit({ min: 8, initial: 8, max: 8 })
  const rateLimitError = expect.objectContaining({ kind: 'exhausted', reason: 'TOO_MANY_AT_ONCE', retryAfter: 1 })
  const first = limit.begin('read', 'key 1')
  limit.begin('write', 'key 1')
  for (const kind of ['read', 'write'] as const) expect(() => limit.begin(kind, 'key 1')).toThrow(rateLimitError)
  limit.begin('read', 'key 2')
  first.end(true)
  first.end(true)
  limit.begin('read', 'key 1')
  expect(() => limit.begin('read', 'key 1')).toThrow(rateLimitError)
})

describe('the number of slots', () => {
  /**
   * Keeps all slots in use for a time. `ms` returns the duration of a request for a number of
   * concurrent ones. Returns the number in progress at the end.
   */
  function keepFull(limit: ConcurrencyLimit, clock: { now: number }, seconds: number, ms: (concurrent: number) => number): number {
    const until = clock.now + seconds * 1_000
    const running: { end: (succeeded: boolean) => void; at: number }[] = []
    for (let caller = 0; clock.now < until; clock.now++) {
      for (const done of running.filter(({ at }) => at <= clock.now)) running.splice(running.indexOf(done), 1)[0]?.end(true)
      while (!limit.isFull('read'))
        running.push({ ...limit.begin('read', `key ${caller++ % 100}`), at: clock.now + ms(running.length + 1) })
    }
    const count = running.length
    for (const { end } of running) end(false)
    return count
  }
  function createTestLimit() {
    const clock = { now: 0 }
    return { clock, limit: createConcurrencyLimit({ min: 16, initial: 32, max: 100 }, () => clock.now) }
  }

  test('grows while the latency does not depend on the load', () => {
    const { limit, clock } = createTestLimit()
    expect(keepFull(limit, clock, 20, () => 200)).toBe(100)
  })

  test('shrinks while the latency grows with the load, and recovers afterwards', () => {
    const { limit, clock } = createTestLimit()
    expect(keepFull(limit, clock, 20, (concurrent) => 10 * concurrent)).toBe(16)
    for (let nth = 0; nth < 200; nth++, clock.now += 10) limit.begin('read', 'key 1').end(true)
    expect(keepFull(limit, clock, 0.1, () => 10_000)).toBe(32)
  })

  test('shrinks again when responses become slow', () => {
    const { limit, clock } = createTestLimit()
    keepFull(limit, clock, 20, () => 100)
    expect(keepFull(limit, clock, 20, (concurrent) => 20 * concurrent)).toBe(16)
  })

  test('does not change on failed requests', () => {
    const { limit, clock } = createTestLimit()
    for (let nth = 0; nth < 1_000; nth++, clock.now++) {
      const running = Array.from({ length: 32 }, (_, caller) => limit.begin('read', `${caller}`))
      expect(() => limit.begin('read', 'one more')).toThrow()
      for (const { end } of running) end(false)
    }
    expect(keepFull(limit, clock, 1, () => 10_000)).toBe(32)
  })

  test('one caller may use more than a quarter of the current slots while slots are free', () => {
    const { limit } = createTestLimit()
    for (let nth = 0; nth < 24; nth++) limit.begin('read', 'key 1')
    expect(() => limit.begin('read', 'key 1')).toThrow(expect.objectContaining({ reason: 'TOO_MANY_AT_ONCE' }))
    for (let nth = 0; nth < 8; nth++) limit.begin('read', 'key 2')
    expect(() => limit.begin('read', 'key 3')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
    limit.begin('write', 'key 3')
  })
})
