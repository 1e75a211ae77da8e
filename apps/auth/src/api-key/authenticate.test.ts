import { randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { fixedMasterKeys } from '@vitascope/security'
import { createKeyCipher } from '../key/key-encryption.ts'
import { makeKeyValue } from '../key/key-value.ts'
import { authenticate, type KeyState } from './authenticate.ts'

const cipher = createKeyCipher(fixedMasterKeys('a master key of this test, long enough'))
const call = serviceCall('gateway', '')
const CONFIGURED = 'a-configured-system-key'

/** Creates an authentication that knows one key with the given state and counts the lookups. */
function createAuthentication(state: Partial<KeyState> = {}, configured?: string, isRead = true) {
  const value = makeKeyValue()
  const calls = { lookups: 0, activated: [] as string[] }
  const known: KeyState = {
    apiKeyId: '1',
    userId: '2',
    organisationId: '3',
    userType: 'uploader',
    resources: ['video::post'],
    expireTime: undefined,
    revoked: false,
    expired: false,
    organisationActive: true,
    userInvited: false,
    ...state,
  }
  const authentication = {
    cipher,
    configured: () => ({ lookup: configured === undefined ? undefined : cipher.hash(configured), isRead }),
    recordUse: () => undefined,
    identities: {
      findState: async ([lookup]: readonly Buffer[]) => {
        calls.lookups++
        return lookup?.equals(cipher.hash(value)) || (configured && lookup?.equals(cipher.hash(configured))) ? known : undefined
      },
      activate: async (userId: string) => void calls.activated.push(userId),
    },
  }
  return { value, calls, authentication }
}

test('a valid key identifies its user and organisation', async () => {
  const { authentication, value, calls } = createAuthentication()
  expect(await authenticate(authentication, value, call)).toMatchObject({ apiKeyId: '1', userId: '2', organisationId: '3' })
  expect(calls.activated).toEqual([])
})

test('the first successful authentication of an invited user activates the user', async () => {
  const { authentication, value, calls } = createAuthentication({ userInvited: true })
  await authenticate(authentication, value, call)
  expect(calls.activated).toEqual(['2'])
})

test.each([
  ['KEY_REVOKED', 'unauthenticated', { revoked: true, expired: true }],
  ['KEY_EXPIRED', 'unauthenticated', { expired: true, organisationActive: false }],
  ['ORGANISATION_INACTIVE', 'forbidden', { organisationActive: false, userInvited: true }],
])('%s rejects the key and activates no user', async (reason, kind, state) => {
  const { authentication, value, calls } = createAuthentication(state)
  await expect(authenticate(authentication, value, call)).rejects.toMatchObject({ kind, reason })
  expect(calls.activated).toEqual([])
})

test('an unregistered key is rejected with KEY_UNKNOWN', async () => {
  const { authentication } = createAuthentication()
  await expect(authenticate(authentication, makeKeyValue(), call)).rejects.toMatchObject({ reason: 'KEY_UNKNOWN' })
})

test('a thousand malformed keys cause no lookup', async () => {
  const { authentication, value, calls } = createAuthentication({}, CONFIGURED)
  const junk = [
    ...Array.from({ length: 990 }, (_, i) => randomBytes(i % 100).toString(i % 2 ? 'base64url' : 'latin1')),
    '',
    'vs_',
    `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`,
    ` ${value}`,
    `${value}\0`,
    CONFIGURED.toUpperCase(),
    `${CONFIGURED}-`,
    'x'.repeat(65_536),
    "' or 1=1 --",
    '\ud800',
  ]
  for (const key of junk) await expect(authenticate(authentication, key, call)).rejects.toMatchObject({ reason: 'KEY_MALFORMED' })
  expect(calls.lookups).toBe(0)
})

test('the configured system key is accepted although it has another format', async () => {
  const { authentication } = createAuthentication({}, CONFIGURED)
  expect(await authenticate(authentication, CONFIGURED, call)).toMatchObject({ apiKeyId: '1' })
})

test('while the configured system key is not yet read, a key of another format is unavailable, not malformed', async () => {
  const { authentication, value, calls } = createAuthentication({}, undefined, false)
  await expect(authenticate(authentication, CONFIGURED, call)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 1 })
  await expect(authenticate(authentication, 'junk', call)).rejects.toMatchObject({ reason: 'KEY_MALFORMED' })
  expect(calls.lookups).toBe(0)
  expect(await authenticate(authentication, value, call)).toMatchObject({ apiKeyId: '1' })
})

test('only services may authenticate keys', async () => {
  const { authentication, value } = createAuthentication()
  const user = { kind: 'user' as const, keyId: '1', userId: '2', organisationId: '3', userType: 'system' as const }
  await expect(authenticate(authentication, value, { ...call, principal: user })).rejects.toMatchObject({ reason: 'SERVICE_ONLY' })
})
