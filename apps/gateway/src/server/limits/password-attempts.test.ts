// Faults: A12
import { expect, test } from '@jest/globals'
import { createPasswordAttempts } from './password-attempts.ts'

const outcome = (run: Promise<void>) =>
  run.then(
    () => 'counted',
    (error) => error.reason,
  )

test('one address has 10 attempts per minute and video', async () => {
  const attempts = createPasswordAttempts()
  for (let i = 0; i < 10; i++) await attempts.count('192.0.2.1', '7')
  const rejection = await attempts.count('192.0.2.1', '7').catch((error) => error)
  expect(rejection).toMatchObject({ kind: 'exhausted', reason: 'RATE_LIMITED', headers: { 'RateLimit-Policy': '"password";q=10;w=60' } })
  expect(rejection.retryAfter).toBeGreaterThan(0)
  expect(rejection.retryAfter).toBeLessThanOrEqual(60)
  await attempts.count('192.0.2.1', '8')
  await attempts.count('192.0.2.2', '7')
})

test('one address has 30 attempts per minute over all videos; rejected attempts do not count', async () => {
  const attempts = createPasswordAttempts()
  for (const video of ['1', '2']) for (let i = 0; i < 15; i++) await outcome(attempts.count('192.0.2.1', video))
  for (let i = 0; i < 10; i++) expect(await outcome(attempts.count('192.0.2.1', `3${i}`))).toBe('counted')
  const rejection = await attempts.count('192.0.2.1', '40').catch((error) => error)
  expect(rejection).toMatchObject({ reason: 'RATE_LIMITED', headers: { 'RateLimit-Policy': '"password_address";q=30;w=60' } })
  await attempts.count('192.0.2.2', '40')
})

test('a video has 100 attempts per minute from all addresses together', async () => {
  const attempts = createPasswordAttempts()
  const all = await Promise.all(Array.from({ length: 110 }, (_, i) => outcome(attempts.count(`192.0.2.${i}`, '7'))))
  expect(all.filter((one) => one === 'counted')).toHaveLength(100)
})

test('one address does not use up the attempts of a video', async () => {
  const attempts = createPasswordAttempts()
  for (let i = 0; i < 300; i++) await outcome(attempts.count('192.0.2.1', '7'))
  for (let i = 0; i < 90; i++) await attempts.count(`198.51.100.${i}`, '7')
  expect(await outcome(attempts.count('203.0.113.1', '7'))).toBe('RATE_LIMITED')
})

test('addresses of one IPv6 network share their attempts', async () => {
  const attempts = createPasswordAttempts()
  for (let i = 0; i < 10; i++) await attempts.count(`2001:db8::${i}`, '7')
  expect(await outcome(attempts.count('2001:db8:0:0:ffff::1', '7'))).toBe('RATE_LIMITED')
  await attempts.count('2001:db8:0:1::1', '7')
})

test('a /48 has 20 of the 100 attempts of a video', async () => {
  const attempts = createPasswordAttempts()
  let counted = 0
  for (let i = 0; i < 300; i++) if ((await outcome(attempts.count(`2001:db8:7:${i.toString(16)}::1`, '7'))) === 'counted') counted++
  expect(counted).toBe(20)
  expect(await outcome(attempts.count('192.0.2.1', '7'))).toBe('counted')
})
