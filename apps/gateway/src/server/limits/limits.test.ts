import { describe, expect, test } from '@jest/globals'
import { type ConcurrencyLimit, createConcurrencyLimit } from './adaptive-concurrency-limit.ts'
import { createLimiter } from './limiter.ts'
import { DEFAULT_LIMITS, parseLimits } from './limits.ts'

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
const taken = async (times: number, take: () => Promise<unknown>) => {
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
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '1' }, 'read'))).toBe(6)
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '2' }, 'read'))).toBe(6)
  expect(await taken(10, () => limiter.take({ policy: 'address', address: '203.0.113.1' }, 'read'))).toBe(4)
})

test('a request costs the points of its cost class', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '1' }, 'write'))).toBe(3)
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '2' }, 'work'))).toBe(1)
})

test('a rejected request uses none of the budget', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  const payer = { policy: 'key', keyId: '1' } as const
  await limiter.take(payer, 'read')
  for (let count = 0; count < 3; count++) {
    await expect(limiter.take(payer, 'work')).rejects.toMatchObject({ headers: { RateLimit: expect.stringContaining(';r=5;') } })
  }
  expect(await taken(10, () => limiter.take(payer, 'read'))).toBe(5)
})

test('one address may send 10 submissions per minute to a contact form, unless limits are off', async () => {
  const limiter = createLimiter(DEFAULT_LIMITS)
  expect(await taken(12, () => limiter.takeSubmission('192.0.2.1', '7'))).toBe(10)
  expect(await taken(1, () => limiter.takeSubmission('192.0.2.1', '8'))).toBe(1)
  expect(await taken(1, () => limiter.takeSubmission('192.0.2.2', '7'))).toBe(1)
  expect(await taken(20, () => createLimiter('off').takeSubmission('192.0.2.1', '7'))).toBe(20)
  await expect(limiter.takeSubmission('192.0.2.1', '7')).rejects.toMatchObject({
    headers: { 'RateLimit-Policy': '"submission";q=10;w=60' },
  })
})

test('headers have the remaining budget, and a rejection has Retry-After', async () => {
  const limiter = createLimiter(limits)
  const take = () => limiter.take({ policy: 'key', keyId: '1' }, 'read')
  expect(await take()).toEqual({ 'RateLimit-Policy': '"key";q=6;w=2', RateLimit: '"key";r=5;t=2' })
  await taken(5, take)
  await expect(take()).rejects.toMatchObject({
    kind: 'exhausted',
    reason: 'RATE_LIMITED',
    retryAfter: 2,
    headers: { RateLimit: '"key";r=0;t=2' },
  })
})

test('addresses of one IPv6 network share a budget', async () => {
  const limiter = createLimiter(limits)
  const from = (address: string) => () => limiter.take({ policy: 'address', address }, 'read')
  expect(await taken(3, from('2001:db8::1'))).toBe(3)
  expect(await taken(3, from('2001:db8:0:0:ffff::2'))).toBe(1)
  expect(await taken(3, from('2001:db8:0:1::1'))).toBe(3)
})

test('a /48 has four times the budget of a /64', async () => {
  const limiter = createLimiter({ ...limits, events: 2 })
  for (const [cost, most] of [
    ['read', 16],
    ['event', 16],
  ] as const) {
    let network = 0
    const send = () => limiter.take({ policy: 'address', address: `2001:db8:1:${(++network).toString(16)}::1` }, cost)
    expect(await taken(100, send)).toBe(most)
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('/48') })
    expect(await taken(1, () => limiter.take({ policy: 'address', address: '2001:db8:2::1' }, cost))).toBe(1)
  }
})

test('a rejection for the /48 uses none of the budget of the /64', async () => {
  const limiter = createLimiter(limits)
  const take = (address: string) => () => limiter.take({ policy: 'address', address }, 'read')
  for (let network = 1; network <= 4; network++) expect(await taken(4, take(`2001:db8:1:${network}::1`))).toBe(4)
  await expect(take('2001:db8:1:5::1')()).rejects.toMatchObject({ headers: { 'RateLimit-Policy': '"address_48";q=16;w=2' } })
})

test('a contact form accepts 20 submissions per minute of a /48, and 1,000 in all', async () => {
  const limiter = createLimiter(DEFAULT_LIMITS)
  let nth = 0
  expect(await taken(100, () => limiter.takeSubmission(`2001:db8:1:${(++nth).toString(16)}::1`, '7'))).toBe(20)
  expect(await taken(1_200, () => limiter.takeSubmission(`2001:db8:${(++nth).toString(16)}::1`, '7'))).toBe(980)
  await expect(limiter.takeSubmission('192.0.2.1', '7')).rejects.toMatchObject({
    headers: { 'RateLimit-Policy': '"submission_form";q=1000;w=60' },
  })
  expect(await taken(1, () => limiter.takeSubmission('192.0.2.1', '8'))).toBe(1)
})

test('failed keys have their own budget, which limits the look-ups when it is used up', async () => {
  const limiter = createLimiter(limits)
  const lookUp = () => limiter.takeKeyLookUp('203.0.113.1')
  expect(await taken(100, lookUp)).toBe(100)
  expect(await taken(3, () => limiter.takeFailedKey('203.0.113.1'))).toBe(2)
  expect(await taken(100, lookUp)).toBe(20)
  await limiter.takeKeyLookUp('203.0.113.2')
})

test('reads are shed before writes', () => {
  const shed = createConcurrencyLimit({ min: 4, initial: 4, max: 4 })
  let callers = 0
  const begin = (kind: 'read' | 'write') => shed.begin(kind, `key ${++callers}`)
  const running = [begin('read'), begin('read'), begin('write'), begin('read')]
  expect([shed.isFull('read'), shed.isFull('write')]).toEqual([true, false])
  expect(() => begin('read')).toThrow(expect.objectContaining({ reason: 'OVERLOADED', retryAfter: 1 }))
  running.push(begin('write'))
  expect(() => begin('write')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
  for (const { end } of running) end(true)
  running[0]?.end(true)
  expect([begin('read'), begin('read'), begin('read'), begin('read')]).toHaveLength(4)
  expect(() => begin('read')).toThrow()
})

test('half of the slots are reserved for reads', () => {
  const shed = createConcurrencyLimit({ min: 8, initial: 8, max: 16 })
  for (let nth = 0; nth < 12; nth++) shed.begin('write', `writer ${nth}`)
  expect(shed.isFull('write')).toBe(true)
  for (let nth = 0; nth < 4; nth++) shed.begin('read', `key ${nth}`)
  expect(shed.isFull('read')).toBe(true)
})

test('one caller may use a quarter of the slots, and releases them when requests end', () => {
  const shed = createConcurrencyLimit({ min: 8, initial: 8, max: 8 })
  const tooMany = expect.objectContaining({ kind: 'exhausted', reason: 'TOO_MANY_AT_ONCE', retryAfter: 1 })
  const first = shed.begin('read', 'key 1')
  shed.begin('write', 'key 1')
  for (const kind of ['read', 'write'] as const) expect(() => shed.begin(kind, 'key 1')).toThrow(tooMany)
  shed.begin('read', 'key 2')
  first.end(true)
  first.end(true)
  shed.begin('read', 'key 1')
  expect(() => shed.begin('read', 'key 1')).toThrow(tooMany)
})

describe('the number of slots', () => {
  /**
   * Keeps all slots in use for a time. `ms` returns the duration of a request for a number of
   * concurrent ones. Returns the number in progress at the end.
   */
  function drive(shed: ConcurrencyLimit, clock: { now: number }, seconds: number, ms: (underWay: number) => number): number {
    const until = clock.now + seconds * 1_000
    const running: { end: (well: boolean) => void; at: number }[] = []
    for (let caller = 0; clock.now < until; clock.now++) {
      for (const done of running.filter(({ at }) => at <= clock.now)) running.splice(running.indexOf(done), 1)[0]?.end(true)
      while (!shed.isFull('read')) running.push({ ...shed.begin('read', `key ${caller++ % 100}`), at: clock.now + ms(running.length + 1) })
    }
    const most = running.length
    for (const { end } of running) end(false)
    return most
  }
  function aShed() {
    const clock = { now: 0 }
    return { clock, shed: createConcurrencyLimit({ min: 16, initial: 32, max: 100 }, () => clock.now) }
  }

  test('grows while the latency does not depend on the load', () => {
    const { shed, clock } = aShed()
    expect(drive(shed, clock, 20, () => 200)).toBe(100)
  })

  test('shrinks while the latency grows with the load, and recovers afterwards', () => {
    const { shed, clock } = aShed()
    expect(drive(shed, clock, 20, (underWay) => 10 * underWay)).toBe(16)
    for (let nth = 0; nth < 200; nth++, clock.now += 10) shed.begin('read', 'key 1').end(true)
    expect(drive(shed, clock, 0.1, () => 10_000)).toBe(32)
  })

  test('shrinks again when responses become slow', () => {
    const { shed, clock } = aShed()
    drive(shed, clock, 20, () => 100)
    expect(drive(shed, clock, 20, (underWay) => 20 * underWay)).toBe(16)
  })

  test('does not change on failed requests', () => {
    const { shed, clock } = aShed()
    for (let nth = 0; nth < 1_000; nth++, clock.now++) {
      const running = Array.from({ length: 32 }, (_, caller) => shed.begin('read', `${caller}`))
      expect(() => shed.begin('read', 'one more')).toThrow()
      for (const { end } of running) end(false)
    }
    expect(drive(shed, clock, 1, () => 10_000)).toBe(32)
  })

  test('one caller may use more than its share while slots are free', () => {
    const { shed } = aShed()
    for (let nth = 0; nth < 24; nth++) shed.begin('read', 'key 1')
    expect(() => shed.begin('read', 'key 1')).toThrow(expect.objectContaining({ reason: 'TOO_MANY_AT_ONCE' }))
    for (let nth = 0; nth < 8; nth++) shed.begin('read', 'key 2')
    expect(() => shed.begin('read', 'key 3')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
    shed.begin('write', 'key 3')
  })
})
