import { describe, expect, test } from '@jest/globals'
import { createLimiter } from './limiter.ts'
import { DEFAULT_LIMITS, parseLimits } from './limits.ts'
import { createLoadShed, type LoadShed } from './load-shed.ts'

test.each([
  ['default', DEFAULT_LIMITS],
  ['off', 'off'],
  ['{}', DEFAULT_LIMITS],
  ['{"key": 5, "cost": {"work": 3}}', { ...DEFAULT_LIMITS, key: 5, cost: { read: 1, write: 1, work: 3 } }],
])('%s is read', (text, limits) => {
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
])('%s is refused', (text) => {
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

test('a budget is the rate times the burst, and each payer has its own', async () => {
  const limiter = createLimiter(limits)
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '1' }, 'read'))).toBe(6)
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '2' }, 'read'))).toBe(6)
  expect(await taken(10, () => limiter.take({ policy: 'address', address: '203.0.113.1' }, 'read'))).toBe(4)
})

test('a cost class may cost more', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '1' }, 'write'))).toBe(3)
  expect(await taken(10, () => limiter.take({ policy: 'key', keyId: '2' }, 'work'))).toBe(1)
})

test('a request that is too dear is refused and takes nothing', async () => {
  const limiter = createLimiter({ ...limits, cost: { read: 1, write: 2, work: 6 } })
  const payer = { policy: 'key', keyId: '1' } as const
  await limiter.take(payer, 'read')
  for (let count = 0; count < 3; count++) {
    await expect(limiter.take(payer, 'work')).rejects.toMatchObject({ headers: { RateLimit: expect.stringContaining(';r=5;') } })
  }
  expect(await taken(10, () => limiter.take(payer, 'read'))).toBe(5)
})

test('an address sends 10 submissions a minute by a contact form, unless limits are off', async () => {
  const limiter = createLimiter(DEFAULT_LIMITS)
  expect(await taken(12, () => limiter.takeSubmission('192.0.2.1', '7'))).toBe(10)
  expect(await taken(1, () => limiter.takeSubmission('192.0.2.1', '8'))).toBe(1)
  expect(await taken(1, () => limiter.takeSubmission('192.0.2.2', '7'))).toBe(1)
  expect(await taken(20, () => createLimiter('off').takeSubmission('192.0.2.1', '7'))).toBe(20)
  await expect(limiter.takeSubmission('192.0.2.1', '7')).rejects.toMatchObject({
    headers: { 'RateLimit-Policy': '"submission";q=10;w=60' },
  })
})

test('headers say what is left, and a refusal when to try again', async () => {
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

test('failed keys have a budget of their own, and none are looked up when it is spent', async () => {
  const limiter = createLimiter(limits)
  expect(await taken(3, () => limiter.takeFailedKey('203.0.113.1'))).toBe(2)
  await expect(limiter.checkFailedKeys('203.0.113.1')).rejects.toMatchObject({ reason: 'RATE_LIMITED' })
  await limiter.checkFailedKeys('203.0.113.2')
})

test('reads are shed before writes', () => {
  const shed = createLoadShed({ least: 4, usual: 4, most: 4 })
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

test('reads keep half of the places, however many writes there are', () => {
  const shed = createLoadShed({ least: 8, usual: 8, most: 16 })
  for (let nth = 0; nth < 12; nth++) shed.begin('write', `writer ${nth}`)
  expect(shed.isFull('write')).toBe(true)
  for (let nth = 0; nth < 4; nth++) shed.begin('read', `key ${nth}`)
  expect(shed.isFull('read')).toBe(true)
})

test('one caller holds a quarter of the places, reads and writes together, and gets them back as they end', () => {
  const shed = createLoadShed({ least: 8, usual: 8, most: 8 })
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

describe('places', () => {
  /** Keeps them all taken for a while by requests that take as long as `ms` says of so many at once; answers how many are taken in the end. */
  function drive(shed: LoadShed, clock: { now: number }, seconds: number, ms: (underWay: number) => number): number {
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
    return { clock, shed: createLoadShed({ least: 16, usual: 32, most: 100 }, () => clock.now) }
  }

  test('there are more where answers take as long beside many others as alone', () => {
    const { shed, clock } = aShed()
    expect(drive(shed, clock, 20, () => 200)).toBe(100)
  })

  test('there are fewer where requests only wait for each other, and as many as usual again when it is over', () => {
    const { shed, clock } = aShed()
    expect(drive(shed, clock, 20, (underWay) => 10 * underWay)).toBe(16)
    for (let nth = 0; nth < 200; nth++, clock.now += 10) shed.begin('read', 'key 1').end(true)
    expect(drive(shed, clock, 0.1, () => 10_000)).toBe(32)
  })

  test('those that were given are taken back when answers become slow', () => {
    const { shed, clock } = aShed()
    drive(shed, clock, 20, () => 100)
    expect(drive(shed, clock, 20, (underWay) => 20 * underWay)).toBe(16)
  })

  test('answers that went wrong at once say nothing', () => {
    const { shed, clock } = aShed()
    for (let nth = 0; nth < 1_000; nth++, clock.now++) {
      const running = Array.from({ length: 32 }, (_, caller) => shed.begin('read', `${caller}`))
      expect(() => shed.begin('read', 'one more')).toThrow()
      for (const { end } of running) end(false)
    }
    expect(drive(shed, clock, 1, () => 10_000)).toBe(32)
  })

  test('one caller may hold more than a share of them while others have room', () => {
    const { shed } = aShed()
    for (let nth = 0; nth < 24; nth++) shed.begin('read', 'key 1')
    expect(() => shed.begin('read', 'key 1')).toThrow(expect.objectContaining({ reason: 'TOO_MANY_AT_ONCE' }))
    for (let nth = 0; nth < 8; nth++) shed.begin('read', 'key 2')
    expect(() => shed.begin('read', 'key 3')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
    shed.begin('write', 'key 3')
  })
})
