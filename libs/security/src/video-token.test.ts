// Faults: A14
import { createHmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { makeTokenKeys, parseTokenKeys } from './token-keys.ts'
import { signVideoToken, verifyVideoToken } from './video-token.ts'

const text = makeTokenKeys()
const keys = parseTokenKeys(text)
const now = new Date('2026-05-01T12:00:00Z')
const expires = new Date('2026-05-01T13:00:00Z')
const request = { videoId: '9007199254740993123', address: '203.0.113.7', now }
const grant = { videoId: request.videoId, expires }

test('a token is valid for its video until it expires, and can be part of a path', async () => {
  const token = await signVideoToken(grant, keys)
  expect(token).toMatch(/^[A-Za-z0-9_.-]+$/)
  expect(token.length).toBeLessThan(256)
  expect(await verifyVideoToken(token, request, keys)).toEqual({ allowed: true, expires })
  expect(await verifyVideoToken(token, { ...request, now: new Date(expires.getTime() - 1) }, keys)).toMatchObject({ allowed: true })
})

test.each([
  ['another video', { ...request, videoId: '9007199254740993124' }, 'wrong_video'],
  ['the second it expires', { ...request, now: expires }, 'expired'],
  ['a year later', { ...request, now: new Date('2027-05-01') }, 'expired'],
])('a token is not valid for %s', async (_, foreign, reason) => {
  expect(await verifyVideoToken(await signVideoToken(grant, keys), foreign, keys)).toEqual({ allowed: false, reason })
})

test.each([
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '::ffff:203.0.113.7', true],
  ['::ffff:cb00:7107', '203.0.113.7', true],
  ['2001:DB8:0::1', '2001:db8::1', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['2001:db8::1', '2001:db8::2', false],
  ['203.0.113.7', '', false],
])('a token for %s used from %j: %p', async (ip, address, allowed) => {
  const token = await signVideoToken({ ...grant, ip }, keys)
  expect(await verifyVideoToken(token, { ...request, address }, keys)).toMatchObject(
    allowed ? { allowed } : { allowed, reason: 'wrong_address' },
  )
})

test('an invalid address or date is rejected when signing', async () => {
  await expect(signVideoToken({ ...grant, ip: '1.2.3' }, keys)).rejects.toMatchObject({ kind: 'invalid', fields: [{ field: 'ip' }] })
  await expect(signVideoToken({ ...grant, expires: new Date('x') }, keys)).rejects.toMatchObject({ fields: [{ field: 'expires' }] })
})

test('a token with a flipped bit is rejected', async () => {
  const token = await signVideoToken({ ...grant, ip: '203.0.113.7' }, keys)
  let flips = 0
  for (let at = 0; at < token.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const bytes = Buffer.from(token, 'latin1')
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      const verdict = await verifyVideoToken(bytes.toString('latin1'), request, keys)
      expect([at, bit, verdict.allowed]).toEqual([at, bit, false])
      flips++
    }
  }
  expect(flips).toBeGreaterThan(500)
})

test('each signature has only one accepted encoding, although its last character has two unused bits', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const token = await signVideoToken(grant, keys)
  const last = alphabet.indexOf(token.slice(-1))
  for (const unusedBits of [1, 2, 3]) {
    const twin = `${token.slice(0, -1)}${alphabet[last + unusedBits]}`
    expect(Buffer.from(twin, 'base64url')).toEqual(Buffer.from(token, 'base64url'))
    expect(await verifyVideoToken(twin, request, keys)).toEqual({ allowed: false, reason: 'malformed' })
  }
})

test('a token stays valid while its key is second in the file, and becomes invalid when the key is removed', async () => {
  const token = await signVideoToken(grant, keys)
  const rotated = makeTokenKeys(text)
  expect(parseTokenKeys(rotated)).toHaveLength(2)
  expect(await verifyVideoToken(token, request, parseTokenKeys(rotated))).toMatchObject({ allowed: true })
  const fresh = await signVideoToken(grant, parseTokenKeys(rotated))
  expect(await verifyVideoToken(fresh, request, keys)).toEqual({ allowed: false, reason: 'unknown_key' })
  const twice = makeTokenKeys(rotated)
  expect(await verifyVideoToken(fresh, request, parseTokenKeys(twice))).toMatchObject({ allowed: true })
  expect(await verifyVideoToken(token, request, parseTokenKeys(twice))).toEqual({ allowed: false, reason: 'unknown_key' })
})

test('a token signed by a foreign key with a known kid is rejected', async () => {
  const foreign = parseTokenKeys(makeTokenKeys())
  const token = await signVideoToken(grant, [{ kid: keys[0].kid, secret: foreign[0].secret }])
  expect(await verifyVideoToken(token, request, keys)).toEqual({ allowed: false, reason: 'bad_signature' })
})

test.each<[string, object, object]>([
  ['no algorithm', { alg: 'none', typ: 'video+jwt' }, {}],
  ['another algorithm', { alg: 'HS512', typ: 'video+jwt' }, {}],
  ['another type', { alg: 'HS256', typ: 'JWT' }, {}],
  ['no type', { alg: 'HS256' }, {}],
  ['an unknown critical header', { alg: 'HS256', typ: 'video+jwt', crit: ['x'], x: 1 }, {}],
  ['no expiry', { alg: 'HS256', typ: 'video+jwt' }, { exp: undefined }],
  ['an expiry that is no number', { alg: 'HS256', typ: 'video+jwt' }, { exp: '9999999999' }],
  ['no video', { alg: 'HS256', typ: 'video+jwt' }, { sub: undefined }],
  ['an address that is no text', { alg: 'HS256', typ: 'video+jwt' }, { ip: ['203.0.113.7'] }],
])('a token with %s is rejected even if it is signed by a known key', async (_, header, claims) => {
  const payload = { sub: request.videoId, exp: Math.floor(expires.getTime() / 1000), ...claims }
  const signed = [{ ...header, kid: keys[0].kid }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const token = `${signed}.${createHmac('sha256', keys[0].secret).update(signed).digest('base64url')}`
  expect(await verifyVideoToken(token, request, keys)).toMatchObject({ allowed: false })
})

test.each(['', '.', '..', 'a.b.c', 'x'.repeat(2000), `${'a'.repeat(1000)}.b.${'A'.repeat(43)}`, 'ä.ö.ü', '../../etc/passwd'])(
  '%j is malformed',
  async (token) => {
    expect(await verifyVideoToken(token, request, keys)).toEqual({ allowed: false, reason: 'malformed' })
  },
)
