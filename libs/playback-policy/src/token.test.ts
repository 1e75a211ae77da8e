import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { makeTokenKeys, parseTokenKeys, signVideoToken } from '@vitascope/security'
import { SignJWT } from 'jose'
import type { TokenRejection } from './decide.ts'
import { type PlaybackKey, parsePublicKey } from './public-key.ts'
import { verifyToken } from './token.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const SECONDS = NOW.getTime() / 1_000
const REQUEST = { videoId: '9007199254740993123', address: '203.0.113.7', now: NOW }
const platform = parseTokenKeys(makeTokenKeys())

const PAIRS = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
} as const
type Algorithm = keyof typeof PAIRS
const ALGORITHMS = Object.keys(PAIRS) as Algorithm[]

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
const organisation: PlaybackKey[] = ALGORITHMS.map((algorithm, index) => ({
  ...{ keyId: `${index + 1}`, algorithm, publicKey: pem(PAIRS[algorithm].publicKey) },
}))
const keyIdOf = (algorithm: Algorithm) => `${ALGORITHMS.indexOf(algorithm) + 1}`
const keys = { platform, organisation }

interface Signing {
  algorithm?: Algorithm
  header?: Record<string, unknown>
  key?: KeyObject
}
const sign = (claims: Record<string, unknown>, { algorithm = 'ES256', header = {}, key = PAIRS[algorithm].privateKey }: Signing = {}) =>
  new SignJWT({ sub: REQUEST.videoId, exp: SECONDS + 60, ...claims })
    .setProtectedHeader({ alg: algorithm, kid: keyIdOf(algorithm), ...header })
    .sign(key)

test.each(ALGORITHMS)('a token of an organisation with %s is valid for its video until it expires', async (algorithm) => {
  const token = await sign({ group: 'staff', teams: ['a', 'b', 3], age: 7 }, { algorithm })
  const claims = { custom: new Map([['group', ['staff']], ['teams', ['a', 'b']]]) } // biome-ignore format: two entries
  expect(await verifyToken(token, REQUEST, keys)).toEqual({ claims, expires: new Date('2026-05-01T12:01:00Z'), keyId: keyIdOf(algorithm) })
  const late = { ...REQUEST, now: new Date('2026-05-01T12:01:00Z') }
  expect(await verifyToken(token, late, keys)).toEqual({ rejection: { code: 'token_expired', claim: 'exp' } })
})

test('a token of the platform is still valid', async () => {
  const token = await signVideoToken({ videoId: REQUEST.videoId, expires: new Date('2026-05-01T13:00:00Z') }, platform)
  expect(await verifyToken(token, REQUEST, keys)).toMatchObject({ claims: { isByPassword: false } })
})

test('the claims with a meaning restrict the token', async () => {
  const token = await sign({
    ...{ aud: ['example.com', '*.example.org'], ip: '::ffff:203.0.113.8', country: 'DE', max_height: 720, kinds: ['manifest', 'segment'] },
    ...{ jti: 'one', max_sessions: 2, nbf: SECONDS, iat: SECONDS, iss: 'example' },
  })
  const { claims } = await verifyToken(token, REQUEST, keys)
  expect(claims).toEqual({
    domains: [
      { domain: 'example.com', subdomains: false },
      { domain: 'example.org', subdomains: true },
    ],
    ...{
      address: '203.0.113.8',
      country: 'DE',
      maxHeight: 720,
      maxSessions: 2,
      tokenId: 'one',
      kinds: new Set(['manifest', 'segment']),
      // A rule may name the token or its issuer.
      custom: new Map([['iss', ['example']], ['jti', ['one']]]), // biome-ignore format: two entries
    },
  })
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** A token whose signature is the HMAC of a text, such as the public key. */
const signSymmetrically = (header: object, secret: string) => {
  const signed = `${encode(header)}.${encode({ sub: REQUEST.videoId, exp: SECONDS + 60 })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

describe('the token is rejected because of', () => {
  const rsa = organisation[0] as PlaybackKey
  const unsigned = `${encode({ alg: 'none', kid: '1' })}.${encode({ sub: REQUEST.videoId, exp: SECONDS + 60 })}.`
  test.each<[string, () => string | Promise<string>, TokenRejection]>([
    ['no signature', () => unsigned, { code: 'token_wrong_algorithm' }],
    ['no signature and no key', () => unsigned.replace(/^[^.]*/, encode({ alg: 'none' })), { code: 'token_wrong_algorithm' }],
    ['a public key as the secret', () => signSymmetrically({ alg: 'HS256', kid: '1' }, rsa.publicKey), { code: 'token_wrong_algorithm' }],
    [
      'the algorithm of another key',
      () => sign({}, { algorithm: 'ES256', header: { kid: keyIdOf('RS256') } }),
      { code: 'token_wrong_algorithm' },
    ],
    ['an unknown key', () => sign({}, { header: { kid: '99' } }), { code: 'token_unknown_key' }],
    ['no key', () => sign({}, { header: { kid: undefined } }), { code: 'token_unknown_key' }],
    [
      'an unknown key of the platform',
      () => signSymmetrically({ alg: 'HS256', kid: 'x', typ: 'video+jwt' }, 'x'),
      { code: 'token_unknown_key' },
    ],
    [
      'the key of another organisation',
      () => sign({}, { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }),
      { code: 'token_bad_signature' },
    ],
    ['a changed signature', async () => (await sign({})).replace(/....$/, 'AAAA'), { code: 'token_bad_signature' }],
    ['a future begin', () => sign({ nbf: SECONDS + 31 }), { code: 'token_not_yet_valid', claim: 'nbf' }],
    ['the expiry', () => sign({ exp: SECONDS }), { code: 'token_expired', claim: 'exp' }],
    ['an expiry long ago', () => sign({ exp: 1 }), { code: 'token_expired', claim: 'exp' }],
    ['no expiry', () => sign({ exp: undefined }), { code: 'token_invalid_claim', claim: 'exp' }],
    ['an expiry that is a text', () => sign({ exp: '9999999999' }), { code: 'token_invalid_claim', claim: 'exp' }],
    ['no video', () => sign({ sub: undefined }), { code: 'token_invalid_claim', claim: 'sub' }],
    ['another video', () => sign({ sub: '1' }), { code: 'token_wrong_video', claim: 'sub' }],
    ['a wildcard in a domain', () => sign({ aud: ['ok.example', 'w*w.example'] }), { code: 'token_invalid_claim', claim: 'aud' }],
    ['no domain', () => sign({ aud: [] }), { code: 'token_invalid_claim', claim: 'aud' }],
    ['an address that is a network', () => sign({ ip: '203.0.113.0/24' }), { code: 'token_invalid_claim', claim: 'ip' }],
    ['a country that does not exist', () => sign({ country: 'UK' }), { code: 'token_invalid_claim', claim: 'country' }],
    ['a height that is a text', () => sign({ max_height: '720' }), { code: 'token_invalid_claim', claim: 'max_height' }],
    ['an unknown kind', () => sign({ kinds: ['segment', 'movie'] }), { code: 'token_invalid_claim', claim: 'kinds' }],
    ['a number of sessions without an id', () => sign({ max_sessions: 2 }), { code: 'token_invalid_claim', claim: 'jti' }],
    ['no session', () => sign({ max_sessions: 0, jti: 'one' }), { code: 'token_invalid_claim', claim: 'max_sessions' }],
    ['an empty id', () => sign({ jti: '' }), { code: 'token_invalid_claim', claim: 'jti' }],
    [
      'an unknown critical header',
      async () => `${encode({ alg: 'ES256', kid: '2', crit: ['x'], x: 1 })}.${(await sign({})).split('.').slice(1).join('.')}`,
      { code: 'token_malformed' },
    ],
    ['no token', () => '', { code: 'token_malformed' }],
    ['two parts', () => 'a.b', { code: 'token_malformed' }],
    ['no JSON', () => 'a.b.c', { code: 'token_malformed' }],
    ['characters', () => 'ä.ö.ü', { code: 'token_malformed' }],
    ['its length', () => `${'a'.repeat(2_040)}.bbb.ccc`, { code: 'token_malformed' }],
  ])('%s', async (_, createToken, rejection) => {
    expect(await verifyToken(await createToken(), REQUEST, keys)).toEqual({ rejection })
  })
  test('its key, which was removed', async () => {
    expect(await verifyToken(await sign({}), REQUEST, { platform, organisation: [] })).toEqual({ rejection: { code: 'token_unknown_key' } })
  })
})

describe('a public key', () => {
  test.each(ALGORITHMS)('for %s is read from PEM and from a JWK', (algorithm) => {
    const { publicKey } = PAIRS[algorithm]
    const parsed = { algorithm, publicKey: pem(publicKey) }
    expect(parsePublicKey(pem(publicKey))).toEqual(parsed)
    expect(parsePublicKey(JSON.stringify(publicKey.export({ format: 'jwk' })))).toEqual(parsed)
  })
  const privatePem = PAIRS.RS256.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  test.each([
    ['a private key', privatePem, 'private key'],
    ['a private JWK', JSON.stringify(PAIRS.EdDSA.privateKey.export({ format: 'jwk' })), 'private key'],
    ['a symmetric JWK', JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' }), 'private key'],
    ['a short RSA key', pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey), '2048 to 4096 bits'],
    ['another curve', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey), 'P-256'],
    ['another kind of key', pem(generateKeyPairSync('x25519').publicKey), 'PEM'],
    ['a text', 'ssh-ed25519 AAAA', 'PEM'],
    ['broken JSON', '{"kty":', 'PEM'],
    ['a broken key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'PEM'],
  ])('that is %s is rejected', (_, text, words) => {
    const { error } = parsePublicKey(text) as { error?: string }
    expect(error).toContain(words)
    expect(error).not.toContain(text.slice(30, 60) || text.slice(2))
  })
})
