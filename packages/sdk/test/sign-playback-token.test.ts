import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { type PlaybackTokenClaims, type PrivateKey, signPlaybackToken } from '../src/sign-playback-token.ts'
import { Vitascope } from '../src/vitascope.ts'

const ed25519 = generateKeyPairSync('ed25519')
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const toPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const toJwk = (key: KeyObject) => key.export({ format: 'jwk' }) as JsonWebKey
const importEd25519 = () => crypto.subtle.importKey('jwk', toJwk(ed25519.privateKey), 'Ed25519', false, ['sign'])

describe.each([
  ['EdDSA', ed25519],
  ['ES256', p256],
  ['RS256', rsa],
])('%s', (alg, { privateKey, publicKey }) => {
  test.each([
    ['PEM', toPem(privateKey)],
    ['JWK', toJwk(privateKey)],
  ])('a token by %s has the header and the claims of the guide, and jose accepts it', async (_, key) => {
    const token = await signPlaybackToken({ id: '55', privateKey: key }, { videoId: '42', expiresInSeconds: 60 })
    const { payload } = await jwtVerify(token, publicKey)
    expect(decodeProtectedHeader(token)).toEqual({ alg, kid: '55' })
    expect(Object.keys(payload).toSorted()).toEqual(['exp', 'sub'])
    expect(payload.sub).toBe('42')
    expect(Math.abs((payload.exp ?? 0) - Date.now() / 1000 - 60)).toBeLessThan(5)
  })
})

test('a CryptoKey signs, too', async () => {
  const token = await signPlaybackToken({ id: '55', privateKey: await importEd25519() }, { videoId: '42' })
  expect((await jwtVerify(token, ed25519.publicKey)).payload.sub).toBe('42')
})

test('each option is a claim', async () => {
  const token = await signPlaybackToken(
    { id: '55', privateKey: toPem(ed25519.privateKey) },
    {
      ...{ videoId: '42', expiresAt: new Date('2100-01-01T00:00:00Z'), notBefore: new Date('2020-01-01T00:00:00Z') },
      ...{
        domains: ['*.example.com'],
        ip: '192.0.2.7',
        country: 'DE',
        maxHeight: 720,
        maxSessions: 2,
        tokenId: 'a',
        kinds: ['manifest', 'segment'],
      },
      claims: { group: ['staff'] },
    },
  )
  expect((await jwtVerify(token, ed25519.publicKey)).payload).toEqual({
    ...{ sub: '42', exp: 4_102_444_800, nbf: 1_577_836_800, aud: ['*.example.com'], ip: '192.0.2.7', country: 'DE' },
    ...{ max_height: 720, max_sessions: 2, jti: 'a', kinds: ['manifest', 'segment'], group: ['staff'] },
  })
})

test.each<[string, Partial<PlaybackTokenClaims>]>([
  ['expire', { expiresInSeconds: 0 }],
  ['expire', { expiresAt: new Date(0) }],
  ['expire', { expiresAt: new Date('never') }],
  ['exclude each other', { expiresAt: new Date('2100-01-01'), expiresInSeconds: 1 }],
  ['videoId', { videoId: '' }],
  ['domains', { domains: [] }],
  ['maxSessions', { maxSessions: 1_001, tokenId: 'a' }],
  ['requires tokenId', { maxSessions: 1 }],
  ['option of its own', { claims: { exp: '9' } }],
  ['2048 characters', { claims: { note: 'x'.repeat(2_048) } }],
])('a claim out of its range is an error about %s', async (message, claims) => {
  const call = signPlaybackToken({ id: '55', privateKey: toPem(ed25519.privateKey) }, { videoId: '42', ...claims })
  await expect(call).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(message) })
})

test.each<[string, PrivateKey]>([
  ['P-384', toPem(p384.privateKey)],
  ['P-384 as JWK', toJwk(p384.privateKey)],
  ['public', toJwk(ed25519.publicKey)],
  ['public PEM', ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ['PKCS #1', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
  ['damaged', toPem(ed25519.privateKey).replace('MC4', 'MC5')],
  ['no', 'secret'],
])('a key that is not one of the three kinds is rejected: %s', async (_, privateKey) => {
  await expect(signPlaybackToken({ id: '55', privateKey }, { videoId: '42' })).rejects.toMatchObject({ code: 'invalid_argument' })
})

test('the client signs with its key, without a request', async () => {
  const neverFetch = () => Promise.reject(new Error('a request was sent'))
  const options = { url: 'https://video.example.org', fetch: neverFetch }
  const vitascope = new Vitascope({ ...options, playbackKey: { id: '55', privateKey: toPem(ed25519.privateKey) } })
  expect((await jwtVerify(await vitascope.playback.sign({ videoId: '42' }), ed25519.publicKey)).payload.sub).toBe('42')
  await expect(new Vitascope(options).playback.sign({ videoId: '42' })).rejects.toMatchObject({ code: 'invalid_argument' })
})
