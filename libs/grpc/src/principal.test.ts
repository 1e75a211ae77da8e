import { expect, test } from '@jest/globals'
import { jwtVerify, SignJWT } from 'jose'
import { type Principal, principalKey, signPrincipal, verifyPrincipal } from './principal.ts'

const key = principalKey('a principal key of these tests, long enough')
const principal: Principal = { kind: 'user', keyId: '1', userId: '2', organisationId: '3', userType: 'standard' }
const call = { principal, requestId: 'r-1' }
/** As the library makes it that everybody knows. */
const token = ({ issuer = 'vitascope', alg = 'HS256', by = key, expires = '60s' as string | Date } = {}) =>
  new SignJWT({ principal, request: 'r-1' }).setProtectedHeader({ alg }).setIssuer(issuer).setIssuedAt().setExpirationTime(expires).sign(by)

test('a signed principal is a JWT for a minute, that any library reads', async () => {
  const { payload } = await jwtVerify(signPrincipal(call, key), key, { issuer: 'vitascope', algorithms: ['HS256'] })
  expect(payload).toMatchObject({ principal, request: 'r-1' })
  expect(Number(payload.exp) - Number(payload.iat)).toBe(60)
  expect(verifyPrincipal(signPrincipal(call, key), key)).toEqual(call)
  expect(verifyPrincipal(await token(), key)).toEqual(call)
})

test('clocks of two machines may differ by half a minute', async () => {
  expect(verifyPrincipal(await token({ expires: new Date(Date.now() - 20_000) }), key)).toEqual(call)
})

test.each<[string, () => string | Promise<string>]>([
  ['signed by another key', () => token({ by: principalKey('another principal key, just as long as it') })],
  ['of another issuer', () => token({ issuer: 'somebody' })],
  ['of another algorithm', () => token({ alg: 'HS512' })],
  ['of no algorithm', () => `${encoded({ alg: 'none' })}.${signPrincipal(call, key).split('.')[1]}.`],
  ['whose time is over', () => token({ expires: new Date(Date.now() - 40_000) })],
  ['without an end', () => signedAnew({ principal, request: 'r-1', iss: 'vitascope' })],
  ['with other claims under the signature', () => bent((parts) => [parts[0], encoded({ ...call, iss: 'vitascope', exp: 1e12 }), parts[2]])],
  ['whose signature is cut short', () => bent(([header, body, signature = '']) => [header, body, signature.slice(0, 20)])],
  ['with a fourth part', () => bent((parts) => [...parts, ''])],
  ['that is none', () => 'x'],
])('a token %s is refused', async (_, make) => {
  const made = await make()
  expect(() => verifyPrincipal(made, key)).toThrow()
})

function bent(bend: (parts: string[]) => (string | undefined)[]): string {
  return bend(signPrincipal(call, key).split('.')).join('.')
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

function signedAnew(claims: object): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(key)
}
