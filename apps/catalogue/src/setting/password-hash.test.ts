import { expect, test } from '@jest/globals'
import { createPasswordHasher } from './password-hash.ts'

const sha1 = 'b14e9015dae06b5e206c2b37178eac45e193792d'

test('a digest is stored as argon2id with a random salt, and only the digest itself matches', async () => {
  const digests = createPasswordHasher()
  const [first, second] = await Promise.all([digests.hash(sha1, '1'), digests.hash(sha1, '1')])
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(first).not.toBe(second)
  expect(await digests.matches(first, sha1, '1')).toBe(true)
  expect(await digests.matches(first, sha1.toUpperCase(), '1')).toBe(false)
  expect(await digests.matches(first, first, '1')).toBe(false)
})

test('of 200 concurrent checks of one group, two run, four wait and the others are rejected', async () => {
  const digests = createPasswordHasher()
  const stored = await digests.hash(sha1, '1')
  const checks = await Promise.allSettled(Array.from({ length: 200 }, () => digests.matches(stored, sha1, '1')))
  const rejected = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []))
  expect(rejected).toHaveLength(194)
  for (const error of rejected) expect(error).toMatchObject({ kind: 'exhausted', reason: 'PASSWORDS_BUSY', retryAfter: 1 })
})
