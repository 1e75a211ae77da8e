import { createPrivateKey } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'
import { testKeyFiles, testSigningKey, toPublicKey } from '@vitascope/testing/principal-keys'
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose'
import { isAdmitted, type Principal } from './principal.ts'
import { openPrincipalKeys, readPrincipalHeaders } from './principal-keys.ts'

const options = () => ({ log: testLog, metrics: createMetrics('test') })
const open = (service: string) => openPrincipalKeys(service, testKeyFiles(service), options())
const [gateway, worker, catalogue] = [open('gateway'), open('worker'), open('catalogue')]
const folder = mkdtempSync(join(tmpdir(), 'vitascope-principal-keys-'))
afterAll(() => {
  for (const keys of [gateway, worker, catalogue]) keys.close()
  rmSync(folder, { recursive: true })
})

const principal: Principal = { kind: 'user', keyId: '1', userId: '2', organisationId: '3', userType: 'standard' }

/** Returns a token signed by jose, with one part changed. */
async function token({
  by = 'gateway',
  kidSigner = by,
  claims = {},
  alg = 'EdDSA',
  expires = '60s' as string | Date | null,
}: {
  by?: string
  kidSigner?: string
  claims?: Record<string, unknown>
  alg?: string
  expires?: string | Date | null
} = {}): Promise<string> {
  const key = alg === 'HS256' ? new TextEncoder().encode(toPublicKey(testSigningKey(by))) : createPrivateKey(testSigningKey(by))
  const kid = await calculateJwkThumbprint(await exportJWK(createPrivateKey(testSigningKey(kidSigner))))
  const jwt = new SignJWT({ principal, iss: by, aud: 'catalogue', ...claims }).setProtectedHeader({ alg, kid }).setIssuedAt()
  return (expires === null ? jwt : jwt.setExpirationTime(expires)).sign(key)
}

test('a signed principal is a JWT for one service that is valid for one minute, and its key id is the JWK thumbprint', async () => {
  const signed = await gateway.sign(principal, 'catalogue')
  const [header, claims] = signed.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  expect(header).toEqual({ alg: 'EdDSA', kid: await calculateJwkThumbprint(await exportJWK(createPrivateKey(testSigningKey('gateway')))) })
  expect(claims).toMatchObject({ principal, iss: 'gateway', aud: 'catalogue', exp: claims.iat + 60 })
  expect(await catalogue.verify(signed)).toEqual({ principal, signer: 'gateway' })
  expect(await catalogue.verify(await token())).toEqual({ principal, signer: 'gateway' })
})

test('calls of the same principal to the same service reuse one signed token', async () => {
  const signed = await gateway.sign(principal, 'catalogue')
  expect(await gateway.sign({ ...principal }, 'catalogue')).toBe(signed)
  expect(await gateway.sign(principal, 'encoding')).not.toBe(signed)
  expect(await gateway.sign({ ...principal, keyId: '2' }, 'catalogue')).not.toBe(signed)
})

test('accepts tokens if the clocks of two machines differ by at most 30 s', async () => {
  const late = await token({ expires: new Date(Date.now() - 20_000) })
  expect(await catalogue.verify(late)).toEqual({ principal, signer: 'gateway' })
})

const gatewayPrincipal = { kind: 'service', service: 'gateway' }

test.each<[string, () => string | Promise<string>]>([
  ['for another service', () => gateway.sign(principal, 'auth')],
  ['for no service', () => token({ claims: { aud: undefined } })],
  ['signed by an unknown key', () => token({ by: 'gateway', kidSigner: 'unknown' })],
  ['signed by another key than its kid', () => token({ by: 'worker', kidSigner: 'gateway', claims: { iss: 'gateway' } })],
  ['with another issuer', () => token({ claims: { iss: 'auth' } })],
  ['of a worker for a user', () => worker.sign(principal, 'catalogue')],
  ['of a worker for a guest', () => worker.sign({ kind: 'guest' }, 'catalogue')],
  ['of a worker for another service', () => token({ by: 'worker', claims: { principal: gatewayPrincipal } })],
  ['without a principal', () => token({ claims: { principal: undefined } })],
  ['with an unknown kind of principal', () => token({ claims: { principal: { kind: 'root' } } })],
  ['signed with the public key as a secret (HS256)', () => token({ alg: 'HS256' })],
  ['with the algorithm none', async () => `${encodePart({ alg: 'none' })}.${(await token()).split('.')[1]}.`],
  ['that has expired', () => token({ expires: new Date(Date.now() - 40_000) })],
  ['without an expiry', () => token({ expires: null })],
  [
    'with other claims under the signature',
    async () => buildMalformedToken((parts) => [parts[0], encodePart({ iss: 'gateway', aud: 'catalogue', exp: 1e12 }), parts[2]]),
  ],
  ['whose signature is cut short', () => buildMalformedToken(([header, body, signature = '']) => [header, body, signature.slice(0, 20)])],
  ['with a fourth part', () => buildMalformedToken((parts) => [...parts, ''])],
  ['that is not a JWT', () => 'x'],
])('a token %s is rejected', async (_, make) => {
  await expect(catalogue.verify(await make())).rejects.toThrow()
})

async function buildMalformedToken(changeParts: (parts: string[]) => (string | undefined)[]): Promise<string> {
  return changeParts((await token()).split('.')).join('.')
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

test('a worker is accepted only where it is listed, and other services are accepted unless there is a list', async () => {
  expect(isAdmitted('worker', undefined)).toBe(false)
  expect(isAdmitted('worker', ['worker'])).toBe(true)
  expect(isAdmitted('gateway', ['worker'])).toBe(false)
  expect(isAdmitted('gateway', undefined)).toBe(true)
  const headers = {
    'vitascope-principal': await worker.sign({ kind: 'service', service: 'worker' }, 'catalogue'),
    'vitascope-request-id': 'r-1',
  }
  await expect(readPrincipalHeaders(headers, catalogue)).rejects.toMatchObject({ kind: 'forbidden', reason: 'CALLER_NOT_ADMITTED' })
  expect(await readPrincipalHeaders(headers, catalogue, ['worker'])).toEqual({
    principal: { kind: 'service', service: 'worker' },
    requestId: 'r-1',
  })
  await expect(readPrincipalHeaders({}, catalogue)).rejects.toMatchObject({ reason: 'PRINCIPAL_MISSING' })
})

test.each<[string, (files: { signingKeyFile: string; publicKeysDir: string }) => void, string]>([
  ['a missing signing key', ({ signingKeyFile }) => rmSync(signingKeyFile), 'VITASCOPE_SIGNING_KEY_FILE: ENOENT'],
  [
    'an invalid signing key',
    ({ signingKeyFile }) => writeFileSync(signingKeyFile, 'secret'),
    'VITASCOPE_SIGNING_KEY_FILE: not a private key',
  ],
  ['a folder without public keys', ({ publicKeysDir }) => rmSync(join(publicKeysDir, 'gateway.pub')), 'VITASCOPE_PUBLIC_KEYS_DIR: '],
  [
    'an invalid public key',
    ({ publicKeysDir }) => writeFileSync(join(publicKeysDir, 'auth.pub'), 'x'),
    'auth.pub must contain 1 to 8 public keys',
  ],
  [
    'the same key for two services',
    ({ publicKeysDir }) => copyFileSync(join(publicKeysDir, 'gateway.pub'), join(publicKeysDir, 'worker.pub')),
    'worker.pub: gateway.pub contains the same key',
  ],
])('%s stops the start, and the error contains the name of the setting', (name, damage, message) => {
  const publicKeysDir = join(folder, name.replaceAll(' ', '-'))
  mkdirSync(publicKeysDir)
  const files = { signingKeyFile: join(publicKeysDir, 'signing-key'), publicKeysDir }
  writeFileSync(files.signingKeyFile, testSigningKey('catalogue'))
  writeFileSync(join(publicKeysDir, 'gateway.pub'), toPublicKey(testSigningKey('gateway')))
  damage(files)
  expect(() => openPrincipalKeys('catalogue', files, options())).toThrow(message)
})
