import { expect, test } from '@jest/globals'
import { createLimiter } from './limiter.ts'
import { DEFAULT_LIMITS, parseLimits } from './limits.ts'
import { createLoadShed } from './load-shed.ts'

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
  const shed = createLoadShed(4)
  let callers = 0
  const begin = (kind: 'read' | 'write') => shed.begin(kind, `key ${++callers}`)
  const running = [begin('read'), begin('read'), begin('write'), begin('read')]
  expect(() => begin('read')).toThrow(expect.objectContaining({ reason: 'OVERLOADED', retryAfter: 1 }))
  running.push(begin('write'))
  expect(() => begin('write')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
  for (const { end } of running) end()
  running[0]?.end()
  expect([begin('read'), begin('read'), begin('read'), begin('read')]).toHaveLength(4)
  expect(() => begin('read')).toThrow()
})

test('one caller holds a quarter of the places, reads and writes together, and gets them back as they end', () => {
  const shed = createLoadShed(8)
  const tooMany = expect.objectContaining({ kind: 'exhausted', reason: 'TOO_MANY_AT_ONCE', retryAfter: 1 })
  const first = shed.begin('read', 'key 1')
  shed.begin('write', 'key 1')
  for (const kind of ['read', 'write'] as const) expect(() => shed.begin(kind, 'key 1')).toThrow(tooMany)
  shed.begin('read', 'key 2')
  first.end()
  first.end()
  shed.begin('read', 'key 1')
  expect(() => shed.begin('read', 'key 1')).toThrow(tooMany)
})
